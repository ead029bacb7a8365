import * as v from 'valibot'
import { Id, Instant, Limit } from '../core/schema.ts'

/** Every kind of task. */
export const TaskKind = v.picklist([
  'conversation.remove',
  'user.erase',
  'storage.purge',
  'message.notify',
  'message.review',
  'thread.notify',
  'search.fill',
  'participants.fill',
  'participants.join',
  'follows.clear',
  'files.collect',
  'files.check',
  'usage.sum',
  'usage.meter',
  'approval.expire',
  'title.make',
  'secret.rotate',
  'mail.send',
  'mail.failed',
])
export type TaskKind = v.InferOutput<typeof TaskKind>

export const TASK_KINDS = TaskKind.options

/** The kinds that wait for other machines, or for the host: they must not hold up those that change the database, nor the reverse. */
export const REMOTE_KINDS: readonly TaskKind[] = [
  'mail.send',
  'mail.failed',
  'files.check',
  'usage.meter',
  'title.make',
  'message.review',
]

/** The kinds that users wait for: they must not wait for those that take long. */
export const PROMPT_KINDS: readonly TaskKind[] = ['message.notify', 'thread.notify', 'approval.expire']

/** The kinds that free space: on a full disk they may use half of its reserve. */
export const FREEING_KINDS: readonly TaskKind[] = ['conversation.remove', 'user.erase', 'files.collect']

/** The parameters of a task and its progress. */
export const TaskDetail = v.record(v.string(), v.union([v.string(), v.number()]))
export type TaskDetail = v.InferOutput<typeof TaskDetail>

/** Work that outlives its request, as an administrator reads it. */
export const TaskRecord = v.object({
  id: Id,
  kind: TaskKind,
  subject_id: v.optional(
    v.pipe(Id, v.description('The affected conversation, user or message; of a mail, its recipient')),
  ),
  created_at: Instant,
  due_at: v.pipe(Instant, v.description('When it continues; in the past while it waits for its turn')),
  running: v.pipe(v.boolean(), v.description('Whether a process works on it now')),
  attempts: v.pipe(v.number(), v.integer(), v.description('Failures since the last success')),
  removed: v.optional(v.pipe(v.number(), v.integer(), v.description('Messages removed so far'))),
})
export type TaskRecord = v.InferOutput<typeof TaskRecord>

export const TasksQuery = v.object({
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type TasksQuery = v.InferOutput<typeof TasksQuery>

/** A page of tasks, oldest first. */
export const TaskPage = v.object({ tasks: v.array(TaskRecord), next_after: v.optional(Id) })
export type TaskPage = v.InferOutput<typeof TaskPage>
