import java.net.*;
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.retry.RetryNTimes;

/** Two who wait for a lock wait for each other: the session of the first ended when it asked for its lease. */
class Main {
    static final long start = System.currentTimeMillis();
    static final ExecutorService threads = Executors.newCachedThreadPool();
    static volatile long deaf, granted; // until when nothing passes between the first and its server; grants to the two

    static void say(String what) { System.out.printf("%5.2f s: %s%n", (System.currentTimeMillis() - start) / 1e3, what); }

    static Void pass(Socket from, Socket to) throws Exception {
        try (from; to) {
            var b = new byte[1 << 16];
            for (int n; (n = from.getInputStream().read(b)) > 0; to.getOutputStream().write(b, 0, n)) {
                if (deaf == 0 && new String(b, 0, n, "ISO-8859-1").contains("-lease-")) deaf = System.currentTimeMillis() + 8000;
                if (System.currentTimeMillis() < deaf) return null;
            }
            return null;
        }
    }

    static void accept(ServerSocket door, String host, int port) throws Exception {
        Socket client = door.accept(), server = new Socket(host, port);
        threads.submit(() -> pass(client, server));
        threads.submit(() -> pass(server, client));
    }

    static InterProcessSemaphoreMutex lock(CuratorFramework c) { return new InterProcessSemaphoreMutex(c, "/semaphore-" + start); }

    static CuratorFramework client(String server) {
        var c = CuratorFrameworkFactory.newClient(server, 4000, 4000, new RetryNTimes(200, 200));
        c.start();
        return c;
    }

    public static void main(String[] args) throws Exception {
        var server = args[0].split(":");
        var door = new ServerSocket(0, 9, InetAddress.getLoopbackAddress());
        threads.submit(() -> { while (true) accept(door, server[0], Integer.parseInt(server[1])); });
        CuratorFramework c = client(args[0]), first = client("127.0.0.1:" + door.getLocalPort());
        var held = lock(c);
        held.acquire();
        threads.submit(() -> { lock(first).acquire(); say("the first has the lock"); return granted++; });
        while (deaf == 0) Thread.sleep(10);
        say("the first has asked for a lease, which was lost with its connection");
        threads.submit(() -> { lock(client(args[0])).acquire(); say("the second has the lock"); return granted++; });
        for (int i = 0; i < 400 && c.getChildren().forPath("/semaphore-" + start + "/leases").size() < 3; i++) Thread.sleep(100);
        held.release();
        say("the holder has given the lock back");
        Thread.sleep(20000);
        var leases = c.getChildren().forPath("/semaphore-" + start + "/leases");
        say("granted since: " + granted + "; leases of those who wait: " + leases);
        System.exit(granted == 0 && leases.size() == 2 ? 0 : 1);
    }
}
