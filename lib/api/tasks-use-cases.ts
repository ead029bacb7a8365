// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { TaskPage } from './tasks.ts'

/** `chat.tasks`. */
export interface TasksUseCases {
  /**
   * A page of the unfinished background tasks, oldest first.
   *
   * @throws ChatError `forbidden`; `validation_failed`
   */
  list(
    actor: Actor,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<TaskPage>
}
