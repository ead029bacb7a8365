/** A mail to one person: `text` is the complete message; `token` is for a host with its own text. */
export interface Mail {
  /** Equal at every try: a mail may be sent twice if the process ends while it is sent. */
  id: string
  /** Which mail it is: the name of its text. */
  kind: string
  to: string
  subject: string
  text: string
  /** The secret in the mail; empty in a notice of a change, which has none. */
  token: string
  /** Set for a mail that quotes generated text: SMTP sends it with the header `X-AI-Generated: true`. */
  generated?: true
}
