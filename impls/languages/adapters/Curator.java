import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import org.apache.curator.framework.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * The locks of Apache Curator, as its documentation shows them: InterProcessMutex, by argument
 * InterProcessReadWriteLock (rw) or InterProcessSemaphoreMutex (semaphore).
 *
 *     client = CuratorFrameworkFactory.newClient(servers, new ExponentialBackoffRetry(1000, 3));
 *     client.start();
 *     lock = new InterProcessMutex(client, path);
 *     lock.acquire();
 *     lock.release();
 */
public class Curator extends Lockbench {
    /** What was granted, and in which session, which is 0 where that was not known. */
    private record Held(InterProcessLock lock, long session) {}

    private final String kind;
    private CuratorFramework client;
    private final Map<String, InterProcessLock> locks = new HashMap<>(); // by path and mode: they are to be used again
    private final Map<String, Held> held = new ConcurrentHashMap<>();    // by owner

    private Curator(String kind) { this.kind = kind; }

    public static void main(String[] args) throws Exception {
        new Curator(args.length > 0 ? args[0] : "mutex").serve();
    }

    @Override protected String describe() throws Exception {
        var pom = new Properties();
        try (var in = InterProcessMutex.class.getResourceAsStream("/META-INF/maven/org.apache.curator/curator-recipes/pom.properties")) {
            if (in != null) pom.load(in);
        }
        versions.put("curator", pom.getProperty("version", "unknown"));
        versions.put("zookeeper", org.apache.zookeeper.Version.getVersion());
        try (var about = Curator.class.getResourceAsStream("/curator_" + kind + ".json")) {
            return new String(about.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Override protected void open(List<String> servers, long ttlMs) throws Exception {
        client = CuratorFrameworkFactory.newClient(String.join(",", servers), (int) ttlMs, (int) ttlMs, new ExponentialBackoffRetry(1000, 3));
        // "It is strongly recommended that you add a ConnectionStateListener": of LOST it is certain
        // that the lock is no longer held.
        client.getConnectionStateListenable().addListener((c, state) -> {
            if (state == ConnectionState.LOST) held.keySet().forEach(owner -> lost(owner, "the connection is LOST"));
        });
        client.start();
        if (!client.blockUntilConnected(15, TimeUnit.SECONDS)) throw new Exception("not connected within 15 s");
        // What Curator itself asks for when it is connected, in the background, comes before this.
        var asked = new CountDownLatch(1);
        client.checkExists().inBackground((c, event) -> asked.countDown()).forPath("/");
        asked.await(5, TimeUnit.SECONDS);
    }

    private InterProcessLock lock(String name) {
        String path = "/lockbench-peer/_" + URLEncoder.encode(name, StandardCharsets.UTF_8);
        return locks.computeIfAbsent(path + (shared ? "/r" : ""), k -> switch (kind) {
            case "rw" -> {
                var rw = new InterProcessReadWriteLock(client, path);
                yield shared ? rw.readLock() : rw.writeLock();
            }
            case "semaphore" -> new InterProcessSemaphoreMutex(client, path);
            default -> new InterProcessMutex(client, path);
        });
    }

    @Override protected Grant acquire(String name, String owner) throws Exception {
        if (shared && !kind.equals("rw")) throw unsupported();
        InterProcessLock lock = lock(name);
        if (!trying) lock.acquire();
        else if (!lock.acquire(0, TimeUnit.MILLISECONDS)) throw held();
        held.put(owner, new Held(lock, session()));
        return null;
    }

    /**
     * Curator's release does not tell whether there was a node to delete. It was there until now if the
     * session in which it was made is still the same. If not, nobody knows: Curator gives up a session
     * that it holds for lost, and the server may still have it.
     */
    @Override protected void release(String name, String owner) throws Exception {
        Held h = held.get(owner);
        if (h == null) throw lost("it was not granted");
        h.lock.release();
        held.remove(owner);
        if (h.session == 0 || h.session != session()) throw released("the session may have ended before");
    }

    private long session() {
        try {
            return client.getZookeeperClient().getZooKeeper().getSessionId();
        } catch (Exception e) {
            return 0; // not connected
        }
    }

    @Override protected void close() { client.close(); }
}
