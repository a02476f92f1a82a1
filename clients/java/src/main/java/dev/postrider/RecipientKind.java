package dev.postrider;

/** In which list a recipient was. */
public enum RecipientKind {
  /** Among those whom it is for. */
  TO,

  /** Among those who get a copy. */
  CC,

  /** Among those who get a copy, and are shown to nobody. */
  BCC,

  /** Something that this version of the library does not know; {@link ApiObject#asMap()} has it. */
  UNKNOWN
}
