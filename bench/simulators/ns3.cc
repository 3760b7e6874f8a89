// The speed workloads of `anabranch bench` in ns-3, against its installed libraries.
//
//     ns3bench --workload=NAME --from=N --length=N [--count]
//              [--scheduler=TYPE] [--routing=table|nix|global]
//
// The length is in seconds for `long-flow` and `dumbbell-100`, in milliseconds for `fat-tree`, in
// transfers for `replications` and in connections for `idle-flows`. What is measured begins at
// `from`, in the same unit: CPU time (`cpu S`), instructions under callgrind with
// `--instr-atstart=no`, and with `--count` packets that arrive over a link (`hops N`); nothing is
// traced otherwise. The last line says what the run has moved, so that a run that did nothing is
// seen.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <valgrind/callgrind.h>
#include <vector>

using namespace ns3;

namespace
{

uint64_t g_hops = 0;

void
CountHop(Ptr<const Packet>)
{
    ++g_hops;
}

uint64_t g_hopsBefore = 0;
std::clock_t g_clockBefore = 0;

// Begins what is measured.
void
Mark()
{
    g_hopsBefore = g_hops;
    g_clockBefore = std::clock();
    CALLGRIND_START_INSTRUMENTATION;
}

// Ends it.
void
Report(bool count)
{
    CALLGRIND_STOP_INSTRUMENTATION;
    std::cout << "cpu " << static_cast<double>(std::clock() - g_clockBefore) / CLOCKS_PER_SEC
              << "\n";
    if (count)
    {
        std::cout << "hops " << g_hops - g_hopsBefore << "\n";
    }
}

// Routes of one node in a hash table. The routing protocols that come with ns-3 look through a
// list of routes for each packet (static and global routing: a hundred of them in the routers of
// the dumbbell) or take no account of equal paths (nix-vectors), so this one is its best case.
class TableRouting : public Ipv4RoutingProtocol
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("anabranch::TableRouting").SetParent<Ipv4RoutingProtocol>();
        return id;
    }

    // Packets to this address are the node's own.
    void SetOwn(Ipv4Address own)
    {
        m_own = own;
    }

    void Add(Ipv4Address to, Ptr<Ipv4Route> route)
    {
        m_routes[to.Get()] = route;
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>,
                               const Ipv4Header& header,
                               Ptr<NetDevice>,
                               Socket::SocketErrno& error) override
    {
        Ptr<Ipv4Route> route = Find(header.GetDestination());
        error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
        return route;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> device,
                    UnicastForwardCallback forward,
                    MulticastForwardCallback,
                    LocalDeliverCallback deliver,
                    ErrorCallback) override
    {
        if (header.GetDestination() == m_own)
        {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
            return true;
        }
        Ptr<Ipv4Route> route = Find(header.GetDestination());
        if (!route)
        {
            return false;
        }
        forward(route, packet, header);
        return true;
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    Ptr<Ipv4Route> Find(Ipv4Address to) const
    {
        auto found = m_routes.find(to.Get());
        return found == m_routes.end() ? nullptr : found->second;
    }

    Ptr<Ipv4> m_ipv4;
    Ipv4Address m_own;
    std::unordered_map<uint32_t, Ptr<Ipv4Route>> m_routes;
};

class TableRoutingHelper : public Ipv4RoutingHelper
{
  public:
    TableRoutingHelper* Copy() const override
    {
        return new TableRoutingHelper(*this);
    }

    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override
    {
        return CreateObject<TableRouting>();
    }
};

// Nodes, links of one subnet each, and routes of fewest hops.
class Network
{
  public:
    explicit Network(const std::string& routing)
        : m_routing(routing)
    {
        m_stack.SetIpv6StackInstall(false);
        if (routing == "table")
        {
            m_stack.SetRoutingHelper(TableRoutingHelper());
        }
        else if (routing == "nix")
        {
            m_stack.SetRoutingHelper(Ipv4NixVectorHelper());
        }
        else
        {
            m_stack.SetRoutingHelper(Ipv4GlobalRoutingHelper());
        }
    }

    uint32_t AddNode()
    {
        Ptr<Node> node = CreateObject<Node>();
        m_stack.Install(node);
        m_nodes.push_back(node);
        m_neighbours.emplace_back();
        return m_nodes.size() - 1;
    }

    // A link and its devices at `a` and `b`; each direction queues up to so many packets.
    NetDeviceContainer Link(uint32_t a,
                            uint32_t b,
                            const std::string& rate,
                            const std::string& delay,
                            const std::string& packets)
    {
        PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate", StringValue(rate));
        helper.SetChannelAttribute("Delay", StringValue(delay));
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(packets + "p"));
        // There is no queue discipline above the device that it could stop.
        helper.DisableFlowControl();
        NetDeviceContainer devices = helper.Install(m_nodes[a], m_nodes[b]);
        // Addresses without Ipv4AddressHelper, which would install FQ-CoDel above each device.
        const uint32_t subnet = Ipv4Address("10.0.0.0").Get() + 4 * m_links++;
        AddInterface(a, devices.Get(0), Ipv4Address(subnet + 1));
        AddInterface(b, devices.Get(1), Ipv4Address(subnet + 2));
        m_neighbours[a].push_back({b, devices.Get(0)});
        m_neighbours[b].push_back({a, devices.Get(1)});
        return devices;
    }

    Ptr<Node> Get(uint32_t node) const
    {
        return m_nodes[node];
    }

    // The address of a host, that of its only link.
    Ipv4Address Address(uint32_t node) const
    {
        return m_nodes[node]->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    }

    // Makes routes to these hosts. Of several next nodes a hash of destination and node picks one,
    // so that flows to different hosts spread over equal paths and none is reordered.
    void Route(const std::vector<uint32_t>& hosts)
    {
        if (m_routing == "global")
        {
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        }
        if (m_routing != "table")
        {
            return;
        }
        for (uint32_t to : hosts)
        {
            RouteTo(to);
        }
    }

    void Count()
    {
        for (const auto& list : m_neighbours)
        {
            for (const Neighbour& neighbour : list)
            {
                neighbour.device->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&CountHop));
            }
        }
    }

  private:
    struct Neighbour
    {
        uint32_t node;
        Ptr<NetDevice> device;
    };

    void AddInterface(uint32_t node, Ptr<NetDevice> device, Ipv4Address address)
    {
        Ptr<Ipv4> ipv4 = m_nodes[node]->GetObject<Ipv4>();
        const uint32_t interface = ipv4->AddInterface(device);
        ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, Ipv4Mask("255.255.255.252")));
        ipv4->SetMetric(interface, 1);
        ipv4->SetUp(interface);
    }

    Ptr<TableRouting> Table(uint32_t node) const
    {
        return DynamicCast<TableRouting>(m_nodes[node]->GetObject<Ipv4>()->GetRoutingProtocol());
    }

    void RouteTo(uint32_t to)
    {
        const uint32_t unknown = UINT32_MAX;
        std::vector<uint32_t> hops(m_nodes.size(), unknown);
        std::vector<uint32_t> reached{to};
        hops[to] = 0;
        const Ipv4Address address = Address(to);
        Table(to)->SetOwn(address);
        for (std::size_t next = 0; next < reached.size(); ++next)
        {
            const uint32_t node = reached[next];
            std::vector<const Neighbour*> nearer;
            for (const Neighbour& neighbour : m_neighbours[node])
            {
                if (hops[neighbour.node] == unknown)
                {
                    hops[neighbour.node] = hops[node] + 1;
                    reached.push_back(neighbour.node);
                }
                else if (hops[neighbour.node] + 1 == hops[node])
                {
                    nearer.push_back(&neighbour);
                }
            }
            if (nearer.empty())
            {
                continue;
            }
            std::minstd_rand hash(address.Get() * 31 + node);
            hash.discard(3);
            Ptr<NetDevice> device = nearer[hash() % nearer.size()]->device;
            Ptr<Ipv4> ipv4 = m_nodes[node]->GetObject<Ipv4>();
            const auto own = ipv4->GetAddress(ipv4->GetInterfaceForDevice(device), 0).GetLocal();
            Ptr<Ipv4Route> route = Create<Ipv4Route>();
            route->SetDestination(address);
            route->SetSource(own);
            route->SetGateway(address);
            route->SetOutputDevice(device);
            Table(node)->Add(address, route);
        }
    }

    std::string m_routing;
    InternetStackHelper m_stack;
    std::vector<Ptr<Node>> m_nodes;
    std::vector<std::vector<Neighbour>> m_neighbours;
    uint32_t m_links = 0;
};

const uint16_t PORT = 5001;

// What all receivers of a network have got.
uint64_t g_received = 0;

// A receiver that counts octets.
void
AddReceiver(const Network& network, uint32_t host)
{
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink.Install(network.Get(host));
}

uint64_t
Received(const Network& network, uint32_t host)
{
    return DynamicCast<PacketSink>(network.Get(host)->GetApplication(0))->GetTotalRx();
}

// A bulk sender that starts so long from now; it sends without end if `octets` is 0.
void
AddSender(const Network& network, uint32_t from, uint32_t to, Time start, uint64_t octets)
{
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(network.Address(to), PORT));
    bulk.SetAttribute("MaxBytes", UintegerValue(octets));
    // What the application writes at once is one segment: nothing has to be cut or joined.
    bulk.SetAttribute("SendSize", UintegerValue(1448));
    bulk.Install(network.Get(from)).Start(start);
}

void
SetTcp(const std::string& window, uint32_t buffer)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + window));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
}

// What a run does beside its workload.
struct Options
{
    double from;
    double length;
    bool count;
};

// Runs for `length` units, of which what is before `from` is not measured.
void
Run(Network& network, const Options& options, Time unit)
{
    if (options.count)
    {
        network.Count();
    }
    Simulator::Schedule(unit * options.from, &Mark);
    Simulator::Stop(unit * options.length);
    Simulator::Run();
    Report(options.count);
}

// One bulk flow: three links of 1 Gbit/s, 1 ms, 10 ms and 1 ms.
void
LongFlow(Network& network, const Options& options)
{
    SetTcp("TcpCubic", 64 << 20);
    // The bandwidth-delay product. Slow start would end with some thousand losses otherwise, and
    // in such a recovery ns-3 goes through its list of segments with each ACK, which takes minutes.
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(3000000));
    const uint32_t a = network.AddNode(), r = network.AddNode(), s = network.AddNode(),
                   b = network.AddNode();
    network.Link(a, r, "1Gbps", "1ms", "1000");
    network.Link(r, s, "1Gbps", "10ms", "1000");
    network.Link(s, b, "1Gbps", "1ms", "1000");
    network.Route({a, b});
    AddReceiver(network, b);
    AddSender(network, a, b, Seconds(0), 0);
    Run(network, options, Seconds(1));
    g_received = Received(network, b);
}

// A hundred bulk flows, each with hosts and access links of its own, over one bottleneck.
void
Dumbbell(Network& network, const Options& options)
{
    SetTcp("TcpNewReno", 4 << 20);
    const uint32_t left = network.AddNode(), right = network.AddNode();
    network.Link(left, right, "1Gbps", "20ms", "3333");
    std::vector<uint32_t> senders, receivers, hosts;
    for (int i = 0; i < 100; ++i)
    {
        for (auto [list, router] : {std::pair{&senders, left}, std::pair{&receivers, right}})
        {
            list->push_back(network.AddNode());
            hosts.push_back(list->back());
            network.Link(list->back(), router, "1Gbps", "1ms", "1000");
        }
    }
    network.Route(hosts);
    std::mt19937 draws(1);
    std::uniform_real_distribution<double> starts(0, 1);
    for (int i = 0; i < 100; ++i)
    {
        AddReceiver(network, receivers[i]);
        AddSender(network, senders[i], receivers[i], Seconds(starts(draws)), 0);
    }
    Run(network, options, Seconds(1));
    for (uint32_t host : receivers)
    {
        g_received += Received(network, host);
    }
}

// A fat-tree of switches with 8 ports and 128 hosts; each host sends without end to one other.
void
FatTree(Network& network, const Options& options)
{
    SetTcp("TcpNewReno", 4 << 20);
    const uint32_t half = 4;
    std::vector<uint32_t> core, hosts;
    auto link = [&](uint32_t a, uint32_t b) { network.Link(a, b, "10Gbps", "1us", "100"); };
    for (uint32_t i = 0; i < half * half; ++i)
    {
        core.push_back(network.AddNode());
    }
    for (uint32_t pod = 0; pod < 2 * half; ++pod)
    {
        std::vector<uint32_t> aggregation;
        for (uint32_t i = 0; i < half; ++i)
        {
            aggregation.push_back(network.AddNode());
            for (uint32_t j = 0; j < half; ++j)
            {
                link(aggregation[i], core[i * half + j]);
            }
        }
        for (uint32_t i = 0; i < half; ++i)
        {
            const uint32_t edge = network.AddNode();
            for (uint32_t above : aggregation)
            {
                link(edge, above);
            }
            for (uint32_t j = 0; j < half; ++j)
            {
                hosts.push_back(network.AddNode());
                link(hosts.back(), edge);
            }
        }
    }
    network.Route(hosts);
    // Each host sends to the one that follows it in a random order of all.
    std::vector<uint32_t> order(hosts.size());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 draws(1);
    std::shuffle(order.begin(), order.end(), draws);
    for (std::size_t i = 0; i < order.size(); ++i)
    {
        AddReceiver(network, hosts[order[i]]);
        AddSender(network, hosts[order[i]], hosts[order[(i + 1) % order.size()]], Seconds(0), 0);
    }
    Run(network, options, MilliSeconds(1));
    for (uint32_t host : hosts)
    {
        g_received += Received(network, host);
    }
}

const uint64_t TRANSFER = 4'000'000;

// Starts the next transfer when one has arrived.
void
NextTransfer(const Network* network, uint32_t from, uint32_t to, uint64_t number, Options options)
{
    if (number == options.from)
    {
        Mark();
    }
    if (number == options.length)
    {
        Simulator::Stop();
        return;
    }
    const uint64_t before = Received(*network, to);
    AddSender(*network, from, to, Seconds(0), TRANSFER);
    DynamicCast<PacketSink>(network->Get(to)->GetApplication(0))
        ->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>(
                [=, done = false](Ptr<const Packet>, const Address&) mutable {
                    if (!done && Received(*network, to) >= before + TRANSFER)
                    {
                        done = true;
                        Simulator::ScheduleNow(&NextTransfer, network, from, to, number + 1, options);
                    }
                }));
}

// Transfers of 4 MB one after the other, with 2 % of the packets lost on the way of the data.
void
Replications(Network& network, const Options& options)
{
    SetTcp("TcpNewReno", 4 << 20);
    const uint32_t a = network.AddNode(), r = network.AddNode(), s = network.AddNode(),
                   b = network.AddNode();
    network.Link(a, r, "10Mbps", "10ms", "100");
    NetDeviceContainer middle = network.Link(r, s, "2Mbps", "15ms", "100");
    network.Link(s, b, "10Mbps", "10ms", "100");
    Ptr<RateErrorModel> loss = CreateObject<RateErrorModel>();
    loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    loss->SetRate(0.02);
    middle.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    network.Route({a, b});
    AddReceiver(network, b);
    Simulator::ScheduleNow(&NextTransfer, &network, a, b, uint64_t{0}, options);
    if (options.count)
    {
        network.Count();
    }
    Simulator::Run();
    Report(options.count);
    g_received = Received(network, b);
}

// Connections between two hosts that are established and carry no data.
void
IdleFlows(Network& network, const Options& options)
{
    SetTcp("TcpCubic", 4 << 20);
    const uint32_t a = network.AddNode(), b = network.AddNode();
    network.Link(a, b, "10Gbps", "1ms", "1000");
    network.Route({a, b});
    Ptr<Socket> listener = Socket::CreateSocket(network.Get(b), TcpSocketFactory::GetTypeId());
    std::vector<Ptr<Socket>> sockets;
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                Callback<void, Ptr<Socket>, const Address&>(
                                    [&](Ptr<Socket> socket, const Address&) {
                                        sockets.push_back(socket);
                                        ++g_received;
                                    }));
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
    listener->Listen();
    const InetSocketAddress peer(network.Address(b), PORT);
    for (uint64_t i = 0; i < options.length; ++i)
    {
        Simulator::Schedule(MicroSeconds(50 * i), [&, peer] {
            sockets.push_back(
                Socket::CreateSocket(network.Get(a), TcpSocketFactory::GetTypeId()));
            sockets.back()->Connect(peer);
        });
    }
    Simulator::Stop(Seconds(10));
    Simulator::Run();
}

} // namespace

int
main(int argc, char** argv)
{
    std::string workload, scheduler = "PriorityQueueScheduler", routing = "table";
    Options options{0, 0, false};
    bool about = false;
    CommandLine arguments;
    arguments.AddValue("workload", "name of the workload", workload);
    arguments.AddValue("from", "where what is measured begins", options.from);
    arguments.AddValue("length", "its length", options.length);
    arguments.AddValue("count", "count packet-hops", options.count);
    arguments.AddValue("scheduler", "type of the event queue", scheduler);
    arguments.AddValue("routing", "table, nix or global", routing);
    arguments.AddValue("about", "say how ns-3 was built, and stop", about);
    arguments.Parse(argc, argv);
    if (about)
    {
        std::cout << "version " << Version::ShortVersion() << "\nprofile "
                  << Version::BuildProfile() << "\n";
        return 0;
    }
    ObjectFactory queue("ns3::" + scheduler);
    Simulator::SetScheduler(queue);
    {
        Network network(routing);
        if (workload == "long-flow")
        {
            LongFlow(network, options);
        }
        else if (workload == "dumbbell-100")
        {
            Dumbbell(network, options);
        }
        else if (workload == "fat-tree")
        {
            FatTree(network, options);
        }
        else if (workload == "replications")
        {
            Replications(network, options);
        }
        else if (workload == "idle-flows")
        {
            IdleFlows(network, options);
        }
        else
        {
            std::cerr << "unknown workload " << workload << "\n";
            return 2;
        }
        std::cout << "moved " << g_received << "\n";
    }
    Simulator::Destroy();
    return 0;
}
