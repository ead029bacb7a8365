import * as v from 'valibot'
import { isVisible, PATTERNS } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, text } from '../../core/schema.ts'
import { AnsweredCall } from '../commands/schema.ts'

export const NoticeInput = v.object({
  user_id: v.pipe(Id, v.description('The participant who alone reads it')),
  content: v.pipe(
    text(MAX_LENGTH.notice),
    v.check(isVisible, 'must have something visible in it'),
    v.metadata({ minLength: 1, pattern: PATTERNS.visible }),
    v.description('At most 16,384 bytes of UTF-8, with at least one visible character'),
  ),
  root_id: v.optional(v.pipe(Id, v.description('The thread in which it is shown'))),
  invocation_id: v.optional(v.pipe(Id, v.description('The call of a command of the author that it answers'))),
  ttl_seconds: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(60), v.maxValue(86_400), v.description('How long it lives')),
    3600,
  ),
})
export type NoticeInput = v.InferOutput<typeof NoticeInput>

/** A text of a program for one participant. It is no message. */
export const Notice = v.object({
  id: Id,
  conversation_id: Id,
  user_id: v.pipe(Id, v.description('The participant who alone reads it')),
  author_user_id: Id,
  content: v.string(),
  root_id: v.optional(Id),
  invocation: v.optional(AnsweredCall),
  created_at: Instant,
  expires_at: v.pipe(Instant, v.description('From then on no answer has it')),
})
export type Notice = v.InferOutput<typeof Notice>

export const CreatedNotice = v.object({ notice: Notice })
export type CreatedNotice = v.InferOutput<typeof CreatedNotice>

export const Notices = v.object({ notices: v.array(Notice) })
export type Notices = v.InferOutput<typeof Notices>
