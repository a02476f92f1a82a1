package dev.postrider;

import java.util.Optional;

/**
 * The base of everything that this library throws. One that is of no other class is thrown for what
 * is wrong before anything is sent (a missing API key, an empty id), and for an answer that nobody
 * can read.
 */
public class PostriderException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** 0 when there was no answer. */
  private final int status;

  /** Never null. */
  private final String code;

  /** Null when there is none. */
  private final String requestId;

  /** Null when there is none. */
  private final Integer index;

  PostriderException(Failure failure) {
    super(failure.message, failure.cause);
    this.status = failure.status;
    this.code = failure.code;
    this.requestId = failure.requestId;
    this.index = failure.index;
  }

  /**
   * The status of the answer.
   *
   * @return 0 when there was no answer
   */
  public final int status() {
    return status;
  }

  /**
   * What to decide by: the code that the service gave, for example {@code domain_not_verified}.
   * Where its answer had none it is {@code http_} and the status; without an answer {@code
   * network_error}, {@code timeout}, {@code missing_api_key}, {@code missing_base_url}, {@code
   * invalid_option} or {@code invalid_argument}.
   *
   * @return the code
   */
  public final String code() {
    return code;
  }

  /**
   * By which the operator of the service finds the call in the log.
   *
   * @return empty when there was no answer, or it had none
   */
  public final Optional<String> requestId() {
    return Optional.ofNullable(requestId);
  }

  /**
   * Which message of a batch this is about.
   *
   * @return from 0; empty when the answer had none
   */
  public final Optional<Integer> index() {
    return Optional.ofNullable(index);
  }

  /** The class, the status, the code, the message and the request id, as far as there are such. */
  @Override
  public final String toString() {
    String numbered = status == 0 ? code : status + " " + code;
    String request = requestId == null ? "" : " (request " + requestId + ")";
    return getClass().getName() + ": " + numbered + ": " + getMessage() + request;
  }
}
