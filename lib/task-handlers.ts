import { expire } from './chat/approvals/expiring.ts'
import { checkFile } from './chat/attachments/checking.ts'
import { collect } from './chat/attachments/sweep.ts'
import { removeConversation } from './chat/conversations/removal.ts'
import { joinPresent } from './chat/memberships/auto-join.ts'
import { fillParticipants } from './chat/memberships/filling.ts'
import { notifyAll } from './chat/notifications/all.ts'
import { notifyFollowers } from './chat/notifications/followers.ts'
import { fill } from './chat/search/fill.ts'
import { reviewEnded } from './chat/streaming/reviewing.ts'
import { clearFollows } from './chat/unread/clearing.ts'
import { sumUp } from './chat/usage/summing.ts'
import type { Context } from './context.ts'
import { withReserve } from './core/with-reserve.ts'
import * as erasure from './erasure/service.ts'
import type { mailTasks } from './mail/queue.ts'
import { purge } from './ops/purge.ts'
import { rotate } from './ops/secrets/rotating.ts'
import type { TaskHandlers, TaskOutcome, TaskRun } from './tasks/runner.ts'
import { FREEING_KINDS } from './tasks/schema.ts'

type Handlers = Omit<TaskHandlers, keyof ReturnType<typeof mailTasks> | 'usage.meter' | 'title.make'>

/**
 * What runs the tasks of each kind, but mails and entries for the host; those that free space, with half of what is kept for a
 * full disk.
 */
export function handlersOf(ctx: Context): Handlers {
  const handlers: { [Kind in keyof Handlers]: (ctx: Context, run: TaskRun) => Promise<TaskOutcome> } = {
    'conversation.remove': removeConversation,
    'user.erase': erasure.resume,
    'storage.purge': purge,
    'message.notify': notifyAll,
    'message.review': reviewEnded,
    'thread.notify': notifyFollowers,
    'search.fill': fill,
    'participants.fill': fillParticipants,
    'participants.join': joinPresent,
    'follows.clear': clearFollows,
    'files.collect': collect,
    'files.check': checkFile,
    'usage.sum': sumUp,
    'approval.expire': expire,
    'secret.rotate': rotate,
  }
  // Made for each run: an object that is the prototype of another one is slower to read.
  const contextOf = (kind: string) => (FREEING_KINDS.some((each) => each === kind) ? withReserve(ctx, 'half') : ctx)
  const running = Object.entries(handlers).map(([kind, handle]) => [
    kind,
    (run: TaskRun) => handle(contextOf(kind), run),
  ])
  return Object.fromEntries(running) as Handlers
}
