//! Tests of whole controllers: all of them, or over many round trips.

mod documented;
mod operations;
mod response;
mod rounds;
