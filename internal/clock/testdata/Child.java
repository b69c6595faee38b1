import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.LockSupport;

/** Tells its clocks, and sleeps 100 ms in the ways that Java has. */
public class Child {
    static void park() {
        long until = System.nanoTime() + 100_000_000;
        for (long left; (left = until - System.nanoTime()) > 0; ) LockSupport.parkNanos(left);
    }

    static void await() throws Exception {
        Object o = new Object();
        synchronized (o) {
            o.wait(100);
        }
    }

    static String slept(String way, Callable<?> sleep) {
        try {
            long begin = System.nanoTime();
            sleep.call();
            return way + ":" + begin + ":" + System.nanoTime();
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Map<String, Callable<?>> ways = new LinkedHashMap<>();
        ways.put("Thread.sleep", () -> { Thread.sleep(100); return null; });
        ways.put("parkNanos", () -> { park(); return null; });
        ways.put("Object.wait", () -> { await(); return null; });
        ways.put("poll", () -> new LinkedBlockingQueue<String>().poll(100, TimeUnit.MILLISECONDS));
        ways.put("schedule", () -> {
            ScheduledExecutorService s = Executors.newScheduledThreadPool(1);
            Object o = s.schedule(() -> 1, 100, TimeUnit.MILLISECONDS).get();
            s.shutdown();
            return o;
        });
        ExecutorService all = Executors.newCachedThreadPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            if (line.equals("read")) {
                System.out.println(System.currentTimeMillis() * 1_000_000 + " " + System.nanoTime());
                continue;
            }
            List<Future<String>> told = new ArrayList<>();
            for (String way : ways.keySet()) told.add(all.submit(() -> slept(way, ways.get(way))));
            StringJoiner said = new StringJoiner(",");
            for (Future<String> f : told) said.add(f.get());
            System.out.println(said);
        }
        System.exit(0);
    }
}
