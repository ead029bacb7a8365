import { byActor } from '../../accounts/audit/rules.ts'
import { photosOf } from '../../accounts/users/photos.ts'
import { lockUser } from '../../accounts/users/store.ts'
import { findOwnerId } from '../../accounts/users/store-bots.ts'
import { toPerson } from '../../accounts/users/store-people.ts'
import type { Context } from '../../context.ts'
import { assertMayWrite } from '../../core/access.ts'
import { type Actor, assertPerson, assertUser, isOperator, refuseGuests } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { digest } from '../../core/ids.ts'
import { useCase } from '../../core/use-case.ts'
import { spendCommand } from '../../limits/spending.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import { lockWithRight, requireMember, requireReader } from '../memberships/access.ts'
import { assertCommands, assertValues } from './rules.ts'
import {
  type BotCommand,
  type BotCommands,
  type CalledCommand,
  type CommandCall,
  CommandPost,
  type Commands,
  CommandsInput,
} from './schema.ts'
import {
  deleteKeyed,
  findCommandsOf,
  findKeyed,
  hasThread,
  type InvocationRow,
  insertInvocation,
  isKept,
  listCommands,
  parseCommands,
  storeCommands,
  toInvocation,
} from './store.ts'

/**
 * Replaces the commands of a system actor, which are called in every conversation.
 *
 * @throws ChatError `forbidden` unless the actor is a system actor; `validation_failed`
 */
export const set = useCase({
  takes: ['actor'],
  input: CommandsInput,
  errors: ['forbidden', 'validation_failed'],
  run: async (ctx, actor, { commands }): Promise<BotCommands> => {
    if (actor.system === undefined || actor.is_bot) throw new ChatError('forbidden', { reason: 'role' })
    return store(ctx, { bot_id: actor.user_id, commands, is_everywhere: true })
  },
})

/**
 * Replaces the commands of a bot, which are called in the conversations in which it participates. By its owner, by the bot
 * itself, and by the operator.
 *
 * @throws ChatError `not_found` unless bots are enabled, and for a bot of another user; `forbidden` for users who may only
 *   read; `validation_failed`
 */
export const setOfBot = useCase({
  takes: ['actor', 'bot_id'],
  input: CommandsInput,
  errors: ['not_found', 'forbidden', 'validation_failed'],
  run: async (ctx, actor, botId, { commands }): Promise<BotCommands> => {
    assertOffered(ctx, actor)
    assertMayWrite(ctx.access, actor)
    return store(ctx, { bot_id: botId, commands, is_everywhere: false }, async (tx) => {
      await lockUser(tx, botId)
      await assertOwn(tx, actor, botId)
      const before = await findCommandsOf(tx, botId)
      if ((before?.commands ?? '[]') === JSON.stringify(commands)) return
      tx.audit({ act: 'user.changed', ...byActor(actor), subject_id: botId, detail: { changed: ['commands'] } })
    })
  },
})

/**
 * The commands of a bot, for those who may set them.
 *
 * @throws ChatError `not_found` unless bots are enabled, and for a bot of another user
 */
export const listOfBot = useCase({
  takes: ['actor', 'bot_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, botId): Promise<BotCommands> => {
    assertOffered(ctx, actor)
    await assertOwn(ctx.db, actor, botId)
    const row = await findCommandsOf(ctx.db, botId)
    return { commands: row ? parseCommands(row) : [] }
  },
})

/** @throws ChatError `not_found` unless bots are enabled; `forbidden` for guests and parts of the host */
function assertOffered({ config }: Context, actor: Actor): void {
  if (!config.bots.enabled) throw turnedOff('bots.enabled')
  if (isOperator(actor)) return
  assertPerson(actor)
  refuseGuests(actor)
}

/** @throws ChatError `not_found` unless the actor is the bot, its owner or the operator */
async function assertOwn(db: Queries, actor: Actor, botId: string): Promise<void> {
  const owner = await findOwnerId(db, botId)
  const isOwn = isOperator(actor) || actor.user_id === botId || actor.user_id === owner
  if (owner === undefined || !isOwn) throw new ChatError('not_found')
}

async function store(
  ctx: Context,
  row: { bot_id: string; commands: BotCommand[]; is_everywhere: boolean },
  before?: (tx: Tx) => Promise<void>,
): Promise<BotCommands> {
  assertCommands(row.commands)
  await ctx.write(async (tx) => {
    await before?.(tx)
    await storeCommands(tx, row)
  })
  return { commands: row.commands }
}

/**
 * The commands that may be called in a conversation, by program; those with one name stay apart.
 *
 * @throws ChatError `not_found`
 */
export const list = useCase({
  takes: ['actor', 'conversation_id'],
  errors: ['not_found', 'forbidden'],
  run: async (ctx, actor, conversationId): Promise<Commands> => {
    await requireReader(ctx, ctx.db, actor, conversationId)
    const photos = photosOf(ctx.config)
    const programs = await listOffered(ctx, ctx.db, conversationId)
    return {
      commands: programs.flatMap((row) =>
        parseCommands(row).map((command) => ({ ...command, bot: toPerson(row, photos) })),
      ),
    }
  },
})

/**
 * Calls a command: its program alone hears of it, and answers by a message or a notice that names the id.
 *
 * @throws ChatError `not_found`, also for an unknown command and for a thread of another conversation; `forbidden` without the
 *   right to post; `validation_failed` for values that do not fit the options; `conflict` in a frozen conversation;
 *   `idempotency_mismatch`; `rate_limited` after 30 in a minute
 */
export const invoke = useCase({
  takes: ['actor', 'conversation_id'],
  input: CommandPost,
  errors: ['not_found', 'forbidden', 'conflict', 'validation_failed', 'idempotency_mismatch'],
  run: async (ctx, actor, conversationId, { idempotency_key: key, ...call }): Promise<CalledCommand> => {
    assertUser(actor)
    const request = digest(JSON.stringify([conversationId, call]))
    const keyed = key === undefined ? undefined : { user_id: actor.user_id, key, request }
    const earlier = keyed && (await findEarlier(ctx, ctx.db, keyed))
    if (earlier !== undefined) return { invocation_id: earlier, ...REPLAYED }
    await requireMember(ctx, ctx.db, actor, conversationId, { act: 'post' })
    await spendCommand(ctx, actor.user_id)
    return ctx.write(async (tx) => {
      const { at } = await lockWithRight(ctx, tx, actor, { conversation_id: conversationId }, 'post')
      // Behind the lock: the same call may have been made meanwhile.
      const made = keyed && (await findEarlier(ctx, tx, keyed))
      if (made !== undefined) return { invocation_id: made, ...REPLAYED }
      if (keyed) await deleteKeyed(tx, keyed, at)
      assertValues(await findCommand(ctx, tx, conversationId, call), call.options)
      if (call.root_id !== undefined && !(await hasThread(tx, conversationId, call.root_id)))
        throw new ChatError('not_found', { message: 'The conversation has no such thread.' })
      const row: InvocationRow = {
        id: ctx.id(),
        conversation_id: conversationId,
        bot_id: call.bot_id,
        user_id: actor.user_id,
        root_id: call.root_id ?? null,
        name: call.name,
        options: JSON.stringify(call.options),
        idempotency_key: key ?? null,
        request_hash: key === undefined ? null : request,
        created_at: at,
      }
      // At the same time the key was used in another conversation.
      if (!(await insertInvocation(tx, row))) throw new ChatError('idempotency_mismatch')
      const event = { type: 'command.invoked' as const, payload: toInvocation(row) }
      tx.emitPrivate(call.bot_id, conversationId, event, { invocation_id: row.id })
      return { invocation_id: row.id }
    })
  },
})

/** The programs of a conversation with their commands: none of bots where they are off. */
const listOffered = ({ config }: Context, db: Queries, conversationId: string) =>
  listCommands(db, conversationId, { bots: config.bots.enabled === true })

const REPLAYED = { idempotency_replayed: 'true' } as const

/** @throws ChatError `not_found` */
async function findCommand(
  ctx: Context,
  tx: Tx,
  conversationId: string,
  { bot_id, name }: CommandCall,
): Promise<BotCommand> {
  const program = (await listOffered(ctx, tx, conversationId)).find(({ id }) => id === bot_id)
  const command = program && parseCommands(program).find((each) => each.name === name)
  if (!command) throw new ChatError('not_found', { message: 'The conversation has no such command.' })
  return command
}

/**
 * The id of the earlier, equal call with a key, from the day before.
 *
 * @throws ChatError `idempotency_mismatch`
 */
async function findEarlier(
  ctx: Context,
  db: Queries,
  { user_id, key, request }: { user_id: string; key: string; request: string },
): Promise<string | undefined> {
  const earlier = await findKeyed(db, user_id, key)
  if (!earlier || !isKept(earlier, ctx.now())) return undefined
  if (earlier.request_hash !== request) throw new ChatError('idempotency_mismatch')
  return earlier.id
}
