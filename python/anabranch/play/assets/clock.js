// The date that charts and pictures show. Those who follow it are told without a new page being drawn.

export class Clock {
  constructor() {
    this.at = 0;
    this.end = 1;
    this.followers = new Set();
  }

  set(at) {
    this.at = Math.min(Math.max(at, 0), this.end);
    for (const follower of this.followers) follower(this.at);
  }

  follow(follower) {
    this.followers.add(follower);
    follower(this.at);
    return () => this.followers.delete(follower);
  }
}
