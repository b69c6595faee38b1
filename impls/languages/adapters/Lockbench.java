import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

/**
 * The protocol of lockbench (docs/protocol.md), for locks in Java. Copy this file beside yours, extend
 * it, and call {@code new YourLock().serve()} first of all in main. All methods but cancel are called
 * on one thread, which is always the same.
 */
public abstract class Lockbench {
    /** An answer that is not "ok". Every other exception means that the outcome is unknown. */
    public static class Answer extends Exception {
        final String say;
        Answer(String say, String why) { super(why); this.say = say; }
    }
    public static Answer held() { return new Answer("held", ""); }
    public static Answer lost(String why) { return new Answer("lost", why); }
    public static Answer released(String why) { return new Answer("released", why); }
    public static Answer noEffect(String why) { return new Answer("no-effect", why); }
    public static Answer unsupported() { return new Answer("unsupported", ""); }

    /** Until when the lock may be relied on, and its fencing token; 0 where there is none. */
    public record Grant(long untilNs, long token) {}

    /** The fields of docs/protocol.md, as the text of a JSON object. */
    protected abstract String describe() throws Exception;
    protected abstract void open(List<String> servers, long ttlMs) throws Exception;
    protected abstract Grant acquire(String lock, String owner) throws Exception;
    protected abstract void release(String lock, String owner) throws Exception;
    /** Ends what goes on; libraries wait such that an interrupt ends them. It must not wait itself. */
    protected void cancel() { worker.interrupt(); }
    protected void close() throws Exception {}

    protected boolean trying, shared; // what acquire is asked for
    protected long ttlNs;
    protected final Map<String, String> versions = new TreeMap<>(Map.of("java", System.getProperty("java.version")));

    /** The clocks of client and server may differ by 1% and 2 ms. */
    protected long until(long callNs) { return callNs + ttlNs - ttlNs / 100 - 2_000_000; }
    protected void lost(String owner, String why) { notice(owner, json("say", "lost", "owner", owner, "why", why)); }
    protected void renewed(String owner, long callNs, long untilNs) {
        notice(owner, json("say", "renewed", "owner", owner, "call_ns", callNs, "until_ns", untilNs));
    }

    private final PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
    private final Map<Long, Map<String, Object>> asked = new ConcurrentHashMap<>(); // and not answered
    private final BlockingQueue<Map<String, Object>> jobs = new LinkedBlockingQueue<>();
    private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor(r -> daemon(r));
    private final Set<String> holds = new HashSet<>(), unsure = new HashSet<>();
    private final List<String> early = new ArrayList<>(); // notices before their time
    private final Thread worker = daemon(this::work);
    private Map<String, Object> running = Map.of();
    private long notices;
    private volatile boolean opened;

    private static Thread daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        return t;
    }

    public final void serve() throws Exception {
        System.setOut(System.err); // what a library prints goes to the log
        worker.start();
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            var q = new Json(line).object();
            long n = (Long) q.get("n");
            String what = (String) q.get("do");
            if (what.equals("close")) break;
            switch (what) {
                case "describe" -> {
                    String rest = describe().strip().replace('\n', ' ').substring(1);
                    say(n, "{\"say\":\"ok\",\"protocol\":1,\"versions\":" + json(versions) + "," + rest);
                }
                case "clock" -> say(n, json("say", "ok", "wall_ns", System.currentTimeMillis() * 1_000_000, "mono_ns", System.nanoTime()));
                case "cancel" -> cancel(n);
                case "open", "acquire", "release" -> { asked.put(n, q); jobs.add(q); }
                default -> {}
            }
        }
        synchronized (this) { holds.clear(); } // nobody is told any more what is lost
        Thread closing = daemon(() -> { try { close(); } catch (Exception e) { e.printStackTrace(); } });
        if (opened) { closing.start(); closing.join(1500); }
        Runtime.getRuntime().halt(0); // whatever a library still waits for
    }

    private void work() {
        for (;;) {
            Map<String, Object> q;
            try { q = jobs.take(); } catch (InterruptedException e) { continue; }
            String what = (String) q.get("do"), owner = (String) q.get("owner");
            if (what.equals("acquire") && !asked.containsKey(q.get("n"))) continue; // cancelled before it began
            synchronized (this) { running = q; early.clear(); }
            String say = "ok", answer = json("say", say);
            try {
                Grant g = run(q, what, (String) q.get("lock"), owner);
                if (g != null && g.untilNs != 0) answer = put(answer, "until_ns", g.untilNs);
                if (g != null && g.token != 0) answer = put(answer, "token", g.token);
            } catch (Answer e) {
                say = e.say;
                if (say.equals("lost") && unsure.contains(owner)) say = "released"; // an earlier release may have given it back
                answer = json("say", say, "why", e.getMessage());
            } catch (Throwable e) {
                say = "unknown";
                answer = json("say", say, "why", e.toString());
            }
            synchronized (this) {
                running = Map.of();
                Thread.interrupted(); // a cancel that came too late
            }
            boolean told = answer(q, say, answer);
            if (what.equals("release") && (!told || say.equals("unknown"))) unsure.add(owner);
        }
    }

    @SuppressWarnings("unchecked")
    private Grant run(Map<String, Object> q, String what, String lock, String owner) throws Exception {
        if (what.equals("open")) {
            ttlNs = (Long) q.get("ttl_ns");
            open((List<String>) q.get("servers"), ttlNs / 1_000_000);
            opened = true;
        } else if (what.equals("release")) {
            synchronized (this) { holds.remove(owner); }
            release(lock, owner);
        } else {
            trying = q.containsKey("try") && (Boolean) q.get("try");
            shared = q.containsKey("shared") && (Boolean) q.get("shared");
            return acquire(lock, owner);
        }
        return null;
    }

    private void cancel(long n) {
        var q = asked.get(n);
        if (q == null) return;
        String late = json("say", "unknown", "why", "cancelled, and it still goes on");
        later.schedule(() -> answer(q, "unknown", late), 1, TimeUnit.SECONDS);
        synchronized (this) { if (running == q) cancel(); } // the next one is read only after this
    }

    /** Answers a question, unless it was cancelled and is answered. */
    private synchronized boolean answer(Map<String, Object> q, String say, String message) {
        if (asked.remove(q.get("n")) == null) return false;
        say((Long) q.get("n"), message);
        if (q.get("do").equals("acquire") && say.equals("ok")) {
            holds.add((String) q.get("owner"));
            for (String notice : early) notice((String) q.get("owner"), notice);
        }
        return true;
    }

    private synchronized void notice(String owner, String message) {
        if (holds.contains(owner)) say(++notices, message);
        else if (owner.equals(running.get("owner")) && running.get("do").equals("acquire")) early.add(message);
    }

    private synchronized void say(long n, String message) {
        out.print("{\"n\":" + n + "," + message.substring(1) + "\n");
        out.flush();
    }

    private static String put(String object, String key, Object value) {
        return object.substring(0, object.length() - 1) + "," + json(key, value).substring(1);
    }

    /** Keys and values in turn. */
    private static String json(Object... pairs) {
        var m = new LinkedHashMap<String, Object>();
        for (int i = 0; i < pairs.length; i += 2) m.put((String) pairs[i], pairs[i + 1]);
        return json(m);
    }

    private static String json(Map<String, ?> m) {
        var all = new StringJoiner(",", "{", "}");
        m.forEach((k, v) -> all.add(quote(k) + ":" + (v instanceof Number ? v : quote(String.valueOf(v)))));
        return all.toString();
    }

    private static String quote(String s) {
        var b = new StringBuilder("\"");
        for (char c : s.substring(0, Math.min(s.length(), 1000)).toCharArray()) {
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < ' ' || Character.isSurrogate(c)) b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        }
        return b.append('"').toString();
    }

    /** Reads what lockbench writes: objects of texts, whole numbers, truths and lists of texts. */
    private static class Json {
        final String s;
        int at;
        Json(String s) { this.s = s; }

        char next() {
            while (Character.isWhitespace(s.charAt(at)) || s.charAt(at) == ',' || s.charAt(at) == ':') at++;
            return s.charAt(at);
        }

        Map<String, Object> object() {
            var m = new HashMap<String, Object>();
            next();
            for (at++; next() != '}'; ) m.put(text(), value());
            return m;
        }

        Object value() {
            char c = next();
            if (c == '"') return text();
            if (c == '{') { var m = object(); at++; return m; }
            if (c == '[') {
                var all = new ArrayList<>();
                for (at++; next() != ']'; ) all.add(value());
                at++;
                return all;
            }
            int from = at;
            while (at < s.length() && ",]} \t".indexOf(s.charAt(at)) < 0) at++;
            String word = s.substring(from, at);
            return word.equals("true") || word.equals("false") ? (Object) word.equals("true") : (Object) Long.parseLong(word);
        }

        String text() {
            next();
            var b = new StringBuilder();
            for (at++; s.charAt(at) != '"'; at++) {
                char c = s.charAt(at);
                if (c == '\\') {
                    c = s.charAt(++at);
                    int known = "ntrbf".indexOf(c);
                    if (known >= 0) c = "\n\t\r\b\f".charAt(known);
                    else if (c == 'u') { c = (char) Integer.parseInt(s.substring(at + 1, at + 5), 16); at += 4; }
                }
                b.append(c);
            }
            at++;
            return b.toString();
        }
    }
}
