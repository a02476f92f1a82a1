import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.Postrider;
import dev.postrider.PostriderException;
import dev.postrider.internal.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Runs the calls of clients/conformance/README.md with this library: one JSON object per line in,
 * one per line out, all at the same time.
 */
public final class Runner {
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  private Runner() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    warmUp();
    ExecutorService threads = Executors.newCachedThreadPool();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Arguments order = new Arguments(Json.parse(line));
      threads.execute(() -> OUT.println(Json.write(perform(order))));
    }
    threads.shutdown();
    threads.awaitTermination(1, TimeUnit.HOURS);
  }

  /** On a busy machine, loading the classes for HTTP takes longer than the timeouts of some cases. */
  private static void warmUp() throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", Runner::answerNothing);
    server.start();
    String address = "http://127.0.0.1:" + server.getAddress().getPort();
    Postrider.builder().apiKey("warm-up").baseUrl(address).maxRetries(0).build().domains().list();
    server.stop(0);
  }

  private static void answerNothing(HttpExchange exchange) throws IOException {
    byte[] nothing = "{}".getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, nothing.length);
    exchange.getResponseBody().write(nothing);
    exchange.close();
  }

  private static Map<String, Object> perform(Arguments order) {
    Map<String, Object> outcome = new LinkedHashMap<>();
    outcome.put("name", order.text("name"));
    try {
      outcome.put("result", call(order.object("options"), order.object("call")));
    } catch (PostriderException e) {
      outcome.put("error", Outcome.describe(e));
    } catch (RuntimeException e) {
      e.printStackTrace();
      outcome.put("error", Outcome.describeStranger(e));
    }
    return outcome;
  }

  private static Object call(Arguments options, Arguments call) {
    String method = call.text("method");
    Arguments args = call.object("args");
    return method.equals("verify_webhook")
        ? Calls.verify(args)
        : Calls.perform(client(options), method, args);
  }

  private static Postrider client(Arguments options) {
    Postrider.Builder builder = Postrider.builder();
    if (options.has("api_key")) {
      builder.apiKey(options.text("api_key"));
    }
    if (options.has("base_url")) {
      builder.baseUrl(options.text("base_url"));
    }
    if (options.has("max_retries")) {
      builder.maxRetries((int) options.number("max_retries"));
    }
    if (options.has("timeout_ms")) {
      builder.timeout(Duration.ofMillis(options.number("timeout_ms")));
    }
    return builder.build();
  }
}
