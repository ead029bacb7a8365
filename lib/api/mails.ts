// Made from the use-cases, routes and schemas by `npm run docs`: change it there.

/** A page of mails, oldest first. */
export interface MailPage {
  mails: MailRecord[]
  next_after?: string
}

/** A mail that waits in the queue, or that was given up: never its text or its token. */
export interface MailRecord {
  id: string
  kind: string
  user_id?: string
  status: 'waiting' | 'sending' | 'failed'
  queued_at: string
  /** When it is tried again; of a failed mail, when it is deleted */
  next_at: string
  tries: number
  /** Why the last try failed */
  cause?: string
}
