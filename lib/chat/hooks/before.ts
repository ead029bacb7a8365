import * as v from 'valibot'
import { findSubjects } from '../../accounts/users/store-subjects.ts'
import { readApproval } from '../../config/approval.ts'
import type { ApprovalRule } from '../../config/approval-rule.ts'
import type { Context, Hooks, JoinBefore, Log, MessageBefore, ToolBefore } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError, causeText } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { withDeadline } from '../../core/scheduling/deadline.ts'
import { parseKnown } from '../../core/use-case.ts'

/** How long a hook may take. */
const TIMEOUT_MS = 250

const LATE = Symbol('late')

/** Why something is refused of which a hook has failed. */
export const Verdict = v.nullish(v.object({ refuse: v.optional(v.string()), content: v.optional(v.string()) }))

/**
 * Asks the host about a message.
 *
 * @returns the text that the host wants instead, if any; it is not validated
 * @throws ChatError `forbidden` with the text of the host; `unavailable` when the hook fails
 */
export async function askAboutMessage(ctx: Context, message: MessageBefore): Promise<string | undefined> {
  const { beforeMessage } = ctx.host.hooks
  if (!beforeMessage) return undefined
  const shown = await withSubjects(ctx, copyOf(message))
  return (await ask(ctx, 'beforeMessage', () => beforeMessage(shown)))?.content
}

/**
 * Asks the host about a new participant.
 *
 * @throws ChatError `forbidden` with the text of the host; `unavailable` when the hook fails
 */
export async function reviewJoin(ctx: Context, join: JoinBefore): Promise<void> {
  const { beforeJoin } = ctx.host.hooks
  if (!beforeJoin) return
  const shown = await withSubjects(ctx, copyOf(join))
  await ask(ctx, 'beforeJoin', () => beforeJoin(shown))
}

/** What a hook needs. */
export interface HookContext {
  log: Log
  host: { hooks: Hooks }
}

const VerdictOnTool = v.nullish(v.object({ refuse: v.optional(v.string()), approval: v.optional(v.unknown()) }))

/**
 * Asks the host about a call of a tool. When the hook fails, the call is refused, unless such failures pass.
 *
 * @returns the text of a refusal, or the approval that the call needs
 */
export async function askAboutTool(
  ctx: HookContext,
  call: ToolBefore,
): Promise<{ refuse?: string; approval?: ApprovalRule }> {
  const { beforeTool } = ctx.host.hooks
  if (!beforeTool) return {}
  // A hook changes nothing by changing what it gets.
  const shown = { ...call, input: JSON.parse(JSON.stringify(call.input)) as unknown }
  try {
    const { refuse, approval } =
      (await resultOf(ctx, { name: 'beforeTool', schema: VerdictOnTool }, () => beforeTool(shown))) ?? {}
    if (refuse !== undefined) return { refuse: refuse.slice(0, MAX_LENGTH.remark) }
    return approval === undefined ? {} : { approval: readApproval(approval) }
  } catch (error) {
    if (error instanceof ChatError) return { refuse: error.message }
    ctx.log.error('hooks.beforeTool has failed', { cause: causeText(error) })
    return { refuse: UNCHECKED }
  }
}

const UNCHECKED = 'The application could not check this in time.'

/** The verdict of a hook, if it is not a refusal. @throws ChatError `forbidden`, `unavailable` */
async function ask(
  ctx: Context,
  name: keyof Hooks,
  hook: () => unknown,
): Promise<{ content?: string | undefined } | undefined> {
  const answer = await resultOf(ctx, { name, schema: Verdict }, hook)
  if (answer?.refuse === undefined) return answer ?? undefined
  throw new ChatError('forbidden', { ...(answer.refuse && { message: answer.refuse.slice(0, MAX_LENGTH.remark) }) })
}

/**
 * What a hook returns; nothing if it fails where such failures pass.
 *
 * @throws ChatError `unavailable` if it fails
 */
export async function resultOf<S extends v.GenericSchema>(
  ctx: HookContext,
  { name, schema, timeout_ms = TIMEOUT_MS }: { name: keyof Hooks; schema: S; timeout_ms?: number },
  hook: () => unknown,
): Promise<v.InferOutput<S> | undefined> {
  let cause = `it took longer than ${timeout_ms} ms`
  try {
    const answer = await withDeadline(Promise.resolve().then(hook), timeout_ms, LATE)
    if (answer !== LATE) return parseKnown(schema, answer)
  } catch (error) {
    cause = causeText(error)
  }
  ctx.log.error(`hooks.${name} has failed`, { cause })
  if (ctx.host.hooks.failure === 'pass') return undefined
  throw new ChatError('unavailable', { message: UNCHECKED })
}

/** With the host's own ids of the actor, and of the user who joins. */
async function withSubjects<T extends { actor?: Actor; user_id?: string }>({ db }: Context, input: T): Promise<T> {
  const { actor, user_id } = input
  const subjects = await findSubjects(
    db,
    [actor?.user_id, user_id].filter((id) => id !== undefined),
  )
  const subjectIn = (id: string) => {
    const subject = subjects.get(id)
    return subject === undefined ? {} : { subject }
  }
  return {
    ...input,
    ...(actor && { actor: { ...actor, ...subjectIn(actor.user_id) } }),
    ...(user_id !== undefined && { user: { user_id, ...subjectIn(user_id) } }),
  }
}

/** A hook changes nothing by changing what it gets. */
function copyOf<T extends { actor?: Actor; metadata?: object }>(input: T): T {
  const { actor, metadata } = input
  // A tool that posts by an incoming hook is a bot, and no part of the host: users choose its name.
  const { system: _, ...bot } = actor ?? {}
  return {
    ...input,
    ...(actor && { actor: { ...(actor.is_bot ? (bot as Actor) : actor), roles: [...actor.roles] } }),
    ...(metadata && { metadata: JSON.parse(JSON.stringify(metadata)) as object }),
  }
}
