import java.io.*;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A lock in Java to start from: javac Template.java, and
 * lockbench run --exec "java Template" in this folder.
 */
public class Template extends Lockbench {
    private static final String DELETE_IF_MINE =
        "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
    private String host;
    private int port;
    private long ttlMs;
    private Socket socket; // null until it is needed

    public static void main(String[] args) throws Exception { new Template().serve(); }

    @Override protected String describe() {
        return """
            {"name": "my-lock", "doc": "SET NX PX and compare-and-delete", "topologies": ["redis"],
             "requests": ["set", "eval"], "takes": "set", "scripts": true, "traits": {"leased": true},
             "round_trips": {"acquire": 1, "release": 1}}""";
    }

    @Override protected void open(List<String> servers, long ttlMs) throws Exception {
        int colon = servers.get(0).lastIndexOf(':');
        host = servers.get(0).substring(0, colon);
        port = Integer.parseInt(servers.get(0).substring(colon + 1));
        this.ttlMs = ttlMs;
        redis("PING");
    }

    @Override protected Grant acquire(String lock, String owner) throws Exception {
        if (shared) throw unsupported();
        long call = System.nanoTime(); // before the request: the lease may begin at once
        if (!redis("SET", lock, owner, "NX", "PX", "" + ttlMs).equals("+OK")) throw held(); // lockbench asks again
        return new Grant(until(call), 0);
    }

    @Override protected void release(String lock, String owner) throws Exception {
        if (redis("EVAL", DELETE_IF_MINE, "1", lock, owner).equals(":0")) throw lost("the key has another owner");
    }

    /** Sends a command and returns the first line of its answer. Yours uses a library here. */
    private String redis(String... words) throws IOException {
        var command = new ByteArrayOutputStream();
        command.writeBytes(("*" + words.length + "\r\n").getBytes());
        for (String w : words) {
            byte[] b = w.getBytes(StandardCharsets.UTF_8);
            command.writeBytes(("$" + b.length + "\r\n").getBytes());
            command.writeBytes(b);
            command.writeBytes("\r\n".getBytes());
        }
        var line = new StringBuilder();
        try {
            if (socket == null) socket = new Socket(host, port);
            socket.getOutputStream().write(command.toByteArray());
            for (int c; (c = socket.getInputStream().read()) != '\n'; ) {
                if (c < 0) throw new EOFException("the server has closed the connection");
                if (c != '\r') line.append((char) c);
            }
        } catch (IOException e) {
            if (socket != null) socket.close();
            socket = null;
            throw e;
        }
        if (line.charAt(0) == '-') throw new IOException(line.toString());
        return line.toString();
    }
}
