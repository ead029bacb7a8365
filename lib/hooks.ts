import type { Attachment, Message } from './api/entities.ts'
import type { PersistedEvent } from './api/events.ts'
import type { ApprovalOptions } from './assistant/tools/definition.ts'
import type { ParticipantRole } from './core/access.ts'
import type { Actor } from './core/actor.ts'

/** Functions of the host that are called before and after changes, over HTTP and in the process alike; each has 250 ms, `afterAnswer` 10 seconds. */
export interface Hooks {
  /**
   * Called before a post, an edit or a question to the assistant is stored, once its author is known to be allowed to.
   * Not called for the answers of the assistant, nor for a repeated post.
   */
  beforeMessage?: (message: MessageBefore) => MessageVerdict | Promise<MessageVerdict>
  /** Called before a user becomes a participant: added by another one, or by an invite. */
  beforeJoin?: (join: JoinBefore) => JoinVerdict | Promise<JoinVerdict>
  /**
   * Called before a call of a tool starts, and before participants are asked about it: it can be refused, or need an approval,
   * instead of what the tool says.
   */
  beforeTool?: (call: ToolBefore) => ToolVerdict | Promise<ToolVerdict>
  /**
   * Called with each answer of an assistant that its provider has completed, before it is complete for its readers: it can be
   * withdrawn. With the setting `hold` of the assistant they get nothing of it before.
   */
  afterAnswer?: (answer: AnswerAfter) => AnswerVerdict | Promise<AnswerVerdict>
  /**
   * Called after the commit with each event of the log that this process has written, at most once; in their order in each
   * conversation.
   */
  afterEvent?: (event: EventAfter) => unknown
  /**
   * What happens when `beforeMessage`, `beforeJoin`, `beforeTool` or `afterAnswer` throws or takes too long. Default: `refuse`, with
   * `unavailable`; an answer is then withdrawn.
   */
  failure?: 'refuse' | 'pass'
}

/** A message before it is stored. */
export interface MessageBefore {
  actor: Actor
  conversation_id: string
  /** The message that it replies to. */
  parent_id?: string
  /** The message that it quotes. */
  quote_id?: string
  /** The message whose text it replaces. */
  message_id?: string
  /** `assistant`: the content is a question to the assistant. */
  role: 'user' | 'assistant' | 'system'
  /** The keys of the assistants that it asks: that of a question, or those that it names. Missing if it asks none. */
  assistants?: string[]
  content: string
  /**
   * Set at the beginning of a message that is streamed: the content is its first piece, or empty. It is asked about again, with
   * all of its text and as `message_id`, before it is complete; if it is cut off, soon after that.
   */
  streaming?: true
  /** The title of the thread that it begins. */
  title?: string
  metadata?: Record<string, unknown>
  /** The files that it gets; missing for an edit that leaves them as they are. */
  attachments?: Attachment[]
}

/** Nothing; the text of the refusal, which the caller reads as the detail of `forbidden`; or another content. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a result is a verdict.
export type MessageVerdict = void | undefined | { refuse: string } | { content: string }

/** A user before becoming a participant. */
export interface JoinBefore {
  /** The user who adds the other, or accepts an invite; missing when a new user signs up with an invite. */
  actor?: Actor
  conversation_id: string
  /** Missing when a new user signs up with an invite. */
  user_id?: string
  /** The user, with your own id of the person if your application has the login. */
  user?: { user_id: string; subject?: string }
  /** The address of a new user. */
  email?: string
  role: ParticipantRole
  /** Set when the actor opens a direct conversation with the user, who will own it too; it is created afterwards. */
  direct?: true
}

/** Nothing, or the text of the refusal, which the caller reads as the detail of `forbidden`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a result is a verdict.
export type JoinVerdict = void | undefined | { refuse: string }

/** A call of a tool before it starts. */
export interface ToolBefore {
  call_id: string
  /** The name of the tool. */
  name: string
  /** Its input, which the tool has accepted. */
  input: unknown
  /** The key of the assistant. */
  assistant: string
  conversation_id: string
  message_id: string
  /** The user who asked; missing once erased. */
  user_id?: string
}

/** Nothing; why it is refused, which participants and the model read; or which approval it needs. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a result is a verdict.
export type ToolVerdict = void | undefined | { refuse: string } | { approval: ApprovalOptions }

/** An answer whose provider has written all of it. */
export interface AnswerAfter {
  /**
   * The answer as its readers would get it, with all values of its parts. Its status is `complete`; with `hold`, it is `streaming`
   * for what the answer has so far when tools are called, which is stored next.
   */
  message: Message
}

/** Nothing, or why the answer is withdrawn: it fails as `refused`, and is deleted with this reason. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without a result is a verdict.
export type AnswerVerdict = void | undefined | { withdraw: string }

/**
 * An event of the log, with its id, which no other event has, its number in its conversation, and your own ids of the users that it names, by their user ids,
 * where your application has the login.
 */
export type EventAfter = { id: string; conversation_id: string; subjects: Record<string, string> } & (
  | (Exclude<PersistedEvent, PrivateKind> & { seq: number })
  | (Extract<PersistedEvent, PrivateKind> & { seq?: undefined; for_user_id: string })
)

/** The events for one user alone, who is `for_user_id`: they have no number in their conversation. */
interface PrivateKind {
  type: 'command.invoked' | 'notice.new' | 'notice.removed'
}
