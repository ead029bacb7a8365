// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.tasks`. */
export interface TasksAdminClient {
  /**
   * List background tasks, oldest first.
   *
   * Deleted conversations and erased users are hidden at once, and background tasks remove their data. Finished
   * tasks are not listed.
   *
   * @throws ChatError `validation_failed`
   */
  list(
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<TaskPage>
}

/** A page of tasks, oldest first. */
export interface TaskPage {
  tasks: TaskRecord[]
  next_after?: string
}

/** Work that outlives its request, as an administrator reads it. */
export interface TaskRecord {
  id: string
  kind:
    | 'conversation.remove'
    | 'user.erase'
    | 'storage.purge'
    | 'message.notify'
    | 'search.fill'
    | 'files.collect'
    | 'files.check'
    | 'usage.sum'
    | 'mail.send'
    | 'mail.failed'
  /** The affected conversation, user or message; of a mail, its recipient */
  subject_id?: string
  created_at: string
  /** When it continues; in the past while it waits for its turn */
  due_at: string
  /** Whether a process works on it now */
  running: boolean
  /** Failures since the last success */
  attempts: number
  /** Messages removed so far */
  removed?: number
}
