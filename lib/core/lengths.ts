/**
 * The longest text of each kind, in UTF-16 units. Unicode normalisation is quadratic on runs of combining marks: 40 kB of
 * them took 1.5 s. So every text that comes in has a longest length, which is looked at before anything else of it.
 */
export const LONGEST = {
  /** RFC 5321, section 4.5.3.1.3, without the angle brackets. */
  email: 254,
  /** More than bcrypt reads, and enough for any password to be refused for what it is. */
  password: 1024,
  name: 200,
  username: 64,
  /** The name of an API key. */
  label: 100,
  /** Why a message was edited or deleted, and what a limit profile is for. */
  remark: 500,
  title: 200,
  search: 200,
  /** Our own tokens have 43 characters, API keys three more. */
  token: 200,
  /** Identifiers of others, such as a user's at a sign-in provider (OpenID Connect Core, section 2: `sub`). */
  subject: 255,
  url: 2048,
  /** What Node takes of all headers together. */
  header: 16 * 1024,
  /** What `limits.message_bytes` can be at most; how long a message may be, that says. */
  message: 256 * 1024,
  /** What `assistant.answer_bytes` can be at most: an answer is held in memory while it is made, and is one row at its end. */
  answer: 16 * 1024 * 1024,
  /** A little less than a body under `/v1` may have, so that a longer one is told which text is too long. */
  echo: 65_000,
} as const
