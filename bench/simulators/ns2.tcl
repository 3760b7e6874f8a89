# The speed workloads of `anabranch bench` in ns-2.
#
#     ns ns2.tcl WORKLOAD LENGTH [count]
#
# The length is in seconds for `long-flow` and `dumbbell-100`, in transfers for `replications` and in
# connections for `idle-flows`. With `count`, queue monitors stand at every link, and `hops N` is
# printed: the packets that have left the queues, without those that were lost on the way.

set workload [lindex $argv 0]
set length [lindex $argv 1]
set counting [expr {[lindex $argv 2] eq "count"}]

# Packets have room for the headers that are used here only, which is quicker and smaller.
remove-all-packet-headers
add-packet-header IP TCP Flags

set ns [new Simulator]
set monitors {}
set lost 0

# The segments of ours: 1448 octets of data and 52 of headers, timestamps among them.
Agent/TCP set packetSize_ 1448
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set timestamps_ true
Agent/TCP set ts_option_size_ 12
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 1.0
Agent/TCP set tcpTick_ 0.001
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink/DelAck set interval_ 40ms

# A link whose queue holds so many packets beside the one that is being sent.
proc link {a b rate delay packets} {
    global ns counting monitors
    $ns duplex-link $a $b $rate $delay DropTail
    foreach {from to} [list $a $b $b $a] {
        $ns queue-limit $from $to [expr {$packets + 1}]
        if {$counting} {
            lappend monitors [$ns monitor-queue $from $to ""]
        }
    }
}

# A bulk flow whose window is at most that of so many octets; its sender.
proc flow {kind from to octets start} {
    global ns
    set sender [new Agent/TCP/$kind]
    set receiver [new Agent/TCPSink/Sack1/DelAck]
    $sender set window_ [expr {$octets / 1448}]
    $ns attach-agent $from $sender
    $ns attach-agent $to $receiver
    $ns connect $sender $receiver
    if {$kind eq "Linux"} {
        $ns at 0 "$sender select_ca cubic"
    }
    set application [new Application/FTP]
    $application attach-agent $sender
    if {$start ne ""} {
        $ns at $start "$application start"
    }
    return $sender
}

proc stop {} {
    global counting monitors lost moved
    if {$counting} {
        set hops 0
        foreach monitor $monitors {
            set hops [expr {$hops + [$monitor set pdepartures_]}]
        }
        puts "hops [expr {$hops - $lost}]"
    }
    puts "moved [uplevel #0 $moved]"
    exit 0
}

proc segments {senders} {
    set sum 0
    foreach sender $senders {
        incr sum [$sender set ack_]
    }
    return $sum
}

proc long-flow {} {
    global ns senders moved length
    foreach name {a r s b} {
        set $name [$ns node]
    }
    link $a $r 1Gb 1ms 1000
    link $r $s 1Gb 10ms 1000
    link $s $b 1Gb 1ms 1000
    set senders [flow Linux $a $b [expr {64 << 20}] 0]
    set moved {segments $senders}
    $ns at $length stop
}

proc dumbbell-100 {} {
    global ns senders moved length
    set left [$ns node]
    set right [$ns node]
    link $left $right 1Gb 20ms 3333
    set draws [new RNG]
    $draws seed 1
    for {set i 0} {$i < 100} {incr i} {
        set from [$ns node]
        set to [$ns node]
        link $from $left 1Gb 1ms 1000
        link $to $right 1Gb 1ms 1000
        lappend senders [flow Sack1 $from $to [expr {4 << 20}] [$draws uniform 0 1]]
    }
    set moved {segments $senders}
    $ns at $length stop
}

# Transfers one after the other between the same nodes: the next begins when all of one is
# acknowledged, as the agent's procedure `done` says.
proc replications {} {
    global ns moved a b begun loss
    foreach name {a r s b} {
        set $name [$ns node]
    }
    link $a $r 10Mb 10ms 100
    link $r $s 2Mb 15ms 100
    link $s $b 10Mb 10ms 100
    set loss [new ErrorModel]
    $loss unit pkt
    $loss set rate_ 0.02
    set draws [new RandomVariable/Uniform]
    $loss ranvar $draws
    # Lost packets end here, and where hops are counted so are they.
    $loss drop-target [new Agent/Null]
    $ns link-lossmodel $loss $r $s
    set begun 0
    set moved {set begun}
    $ns at 0 transfer
}

proc transfer {} {
    global ns a b begun length sender lost loss counting
    if {$begun == $length} {
        # A monitor at the first link counts what is offered; the third has what has come through.
        if {$counting} {
            set lost [lost-packets]
        }
        stop
    }
    incr begun
    set sender [flow Sack1 $a $b [expr {4 << 20}] ""]
    $sender proc done {} {
        global ns
        $ns at [$ns now] transfer
    }
    # 4 MB in segments of 1448 octets.
    $sender advance 2763
}

# Packets that left the queue of the lossy link and never came to that of the last link.
proc lost-packets {} {
    global monitors
    set sent [[lindex $monitors 2] set pdepartures_]
    set come [[lindex $monitors 4] set parrivals_]
    return [expr {$sent - $come}]
}

# Connections that are established and go quiet: `FullTcp` has a handshake, which begins with the
# first octets that are sent.
proc idle-flows {} {
    global ns senders moved length
    set a [$ns node]
    set b [$ns node]
    link $a $b 10Gb 1ms 1000
    for {set i 0} {$i < $length} {incr i} {
        set client [new Agent/TCP/FullTcp/Sack]
        set server [new Agent/TCP/FullTcp/Sack]
        $ns attach-agent $a $client
        $ns attach-agent $b $server
        $ns connect $client $server
        $server listen
        $ns at [expr {50e-6 * $i}] "$client advance-bytes 1"
        lappend senders $client
    }
    set moved {segments $senders}
    $ns at 10 stop
}

$workload
$ns run
