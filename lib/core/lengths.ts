/** The maximum size of all headers together in Node; of its own for clients, which need no other. */
export const MAX_HEADER_LENGTH = 16 * 1024

/**
 * The maximum length of each kind of text, in UTF-16 units. Unicode normalisation is quadratic on runs of combining
 * marks: 40 kB of them took 1.5 s. So every input text has a maximum length, which is checked before anything else.
 */
export const MAX_LENGTH = {
  /** RFC 5321, section 4.5.3.1.3, without the angle brackets. */
  email: 254,
  /** More than bcrypt reads, so that a longer password is refused for its length in bytes. */
  password: 1024,
  name: 200,
  username: 64,
  /** The name of a role. */
  role: 32,
  /** The key of an assistant. */
  assistant_key: 32,
  /** What the assistants of a conversation are told in it, in bytes of UTF-8. */
  assistant_prompt: 8192,
  /** The name of an API key. */
  label: 100,
  /** The reason of an edit or a deletion, and the description of a limit profile. */
  remark: 500,
  title: 200,
  /** What a conversation is about. */
  topic: 250,
  /** The longest that file systems take. */
  file_name: 255,
  /** What an assistant is told before a question, as JSON, in bytes of UTF-8. */
  context: 64 * 1024,
  /** The host's own JSON of a conversation or a message, in bytes of UTF-8. */
  metadata: 4096,
  /** The name of a command or of an option of it. */
  command: 32,
  /** The value of an option of a command. */
  command_value: 4000,
  /** A text for one participant, in bytes of UTF-8. */
  notice: 16 * 1024,
  /** An id or a word of a client of the AI SDK or of AG-UI. */
  ui_id: 256,
  /** The name of a chat that a client has chosen. */
  chat_name: 128,
  /** A piece of a message that is streamed, in bytes of UTF-8. */
  chunk: 16 * 1024,
  /** Why a message that was streamed has ended. */
  finish_reason: 32,
  search: 200,
  /** A day such as 2026-01-31. */
  day: 10,
  /** The place in a report: a count, and the name of a model or an id. */
  report_place: 300,
  /** What is searched for in messages. */
  query: 500,
  /** Our own tokens have 43 characters, API keys three more. */
  token: 200,
  /** Tokens that contain what they allow, with a signature: ids, instants and scopes. */
  signed_token: 640,
  /** The id of an event. One of all conversations names the transactions that were not finished. */
  position: 1024,
  /** A list of types of events: several times all that exist. */
  event_types: 1024,
  /** Identifiers of others, such as a user's at a sign-in provider (OpenID Connect Core, section 2: `sub`). */
  subject: 255,
  url: 2048,
  /** A line of `Set-Cookie`: browsers keep no longer cookie (RFC 6265, section 6.1). */
  cookie: 4096,
  header: MAX_HEADER_LENGTH,
  /** The maximum of `limits.message_bytes`, which in turn limits a message. */
  message: 256 * 1024,
  /**
   * The maximum of `assistant.answer_bytes`: an answer is held in memory while it is written, and stored as one row at
   * its end.
   */
  answer: 16 * 1024 * 1024,
  /** A part of an answer that is no text, in bytes of JSON: one row. */
  part: 64 * 1024,
  /** A little less than the maximum body under `/v1`, so that the error for a longer text can name it. */
  echo: 65_000,
} as const
