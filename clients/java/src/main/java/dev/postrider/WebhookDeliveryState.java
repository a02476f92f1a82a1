package dev.postrider;

/** How far the delivery of an event to a webhook has come. */
public enum WebhookDeliveryState {
  /** It waits for its next attempt. */
  DUE,

  /** The endpoint accepted it. */
  DELIVERED,

  /** All attempts failed. */
  FAILED,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
