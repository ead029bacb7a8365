import { emojiKey } from '../../core/emoji.ts'
import { setStoredJson, storedJsonOf } from '../../core/stored-json.ts'
import type { Dialect, Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { isErasedAuthor, isOneOf, jsonList } from '../../storage/sql.ts'
import { type Message, NAMED_USERS, type Reaction } from './schema.ts'

/** What a change of reactions, or an event about them, needs of a message. */
export interface ReactionState {
  id: string
  root_id: string
  conversation_id: string
  is_deleted: number
  /** As JSON. */
  reaction_list: string | null
  /** The size of the list in bytes. */
  size: number
}

/** These messages with their reactions, in no order. By primary key. */
export function listReactionStates(db: Queries, ids: Iterable<string>): Promise<ReactionState[]> {
  return db.all<ReactionState>(
    `SELECT id, root_id, conversation_id, reaction_list, coalesce(octet_length(reaction_list), 0) AS size,
            CASE WHEN deleted_at IS NOT NULL OR ${isErasedAuthor('messages.posted_by')} THEN 1 ELSE 0 END AS is_deleted
       FROM messages WHERE id ${isOneOf(db.dialect)}`,
    jsonList(ids),
  )
}

/** The reactions of a message; none of a deleted one. */
export function reactionsOf({ is_deleted, reaction_list }: ReactionState): Reaction[] {
  return is_deleted || reaction_list === null ? [] : JSON.parse(reaction_list)
}

/** The list of reactions of the row of `messages`, from their rows, as JSON; null without any. */
export function reactionList(dialect: Dialect): string {
  const [list, object, json] =
    dialect === 'sqlite' ? ['json_group_array', 'json_object', 'json'] : ['json_agg', 'json_build_object', '']
  return `(SELECT nullif(CAST(${list}(${json}(kind)) AS TEXT), '[]') FROM (
    SELECT ${object}('emoji', k.emoji, 'count', k.total, 'user_ids', ${json}((
             SELECT ${list}(user_id) FROM (
               SELECT f.user_id FROM reactions f
                WHERE f.message_id = messages.id AND f.emoji_key = k.emoji_key
                ORDER BY f.at LIMIT ${NAMED_USERS}) AS named))) AS kind
      FROM (SELECT emoji_key, min(emoji) AS emoji, count(*) AS total, min(at) AS since FROM reactions
             WHERE message_id = messages.id GROUP BY emoji_key) AS k
     ORDER BY k.since) AS kinds)`
}

const SET_LIST = onRows<{ id: string; list: string }>(
  { id: 'text', list: 'text' },
  (given) => `UPDATE messages SET reaction_list = given.list FROM ${given} WHERE messages.id = given.id`,
)

/** Stores the lists of reactions of messages. */
export function setReactionLists(tx: Queries, lists: { id: string; list: Reaction[] }[]): Promise<void> {
  return SET_LIST.run(
    tx,
    lists.map(({ id, list }) => ({ id, list: toAscii(JSON.stringify(list)) })),
  )
}

/** JSON without other characters than those of ASCII: a page of lists is read and parsed in three quarters of the time. */
function toAscii(json: string): string {
  return json.replace(/[\u0080-\uFFFF]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Composes the list of reactions of a message from their rows, and stores it. */
export async function composeReactionList(tx: Queries, id: string): Promise<Reaction[]> {
  const [row] = await composeReactionLists(tx, [id])
  return row?.reaction_list ? JSON.parse(row.reaction_list) : []
}

/** The same for several messages. */
export function composeReactionLists(tx: Queries, ids: string[]): Promise<{ reaction_list: string | null }[]> {
  return tx.all(
    `UPDATE messages SET reaction_list = ${reactionList(tx.dialect)} WHERE id ${isOneOf(tx.dialect)}
     RETURNING reaction_list`,
    jsonList(ids),
  )
}

/** A kind of reactions in a stored list, as JSON. */
interface StoredKind {
  emoji: string
  /** What follows the emoji. */
  rest: string
}

const BEGIN = '[{"emoji":"'
const COUNT = '","count":'

/** The kinds of the stored list of a message: its users are not parsed. */
function kindsOf(message: Message): StoredKind[] {
  const json = storedJsonOf(message, 'reactions')
  if (json === undefined) return []
  // A list that the database has composed may have spaces.
  const compact = json.startsWith(BEGIN) ? json : JSON.stringify(JSON.parse(json))
  return compact
    .slice(BEGIN.length)
    .split(',{"emoji":"')
    .map((kind) => {
      const end = kind.indexOf('"')
      return { emoji: kind.slice(0, end), rest: kind.slice(end) }
    })
}

/** The maximum size of the reactions of a message in a response, in bytes. Each emoji may be in `reacted`, too. */
export function sizeOfReactions(message: Message): number {
  return kindsOf(message).reduce((sum, { emoji, rest }) => sum + 6 * emoji.length + rest.length + 20, 0)
}

/**
 * Adds the own reactions of one user to messages that were just read, in the order of the list. It reads only those to
 * messages with more users than they name.
 */
export async function withReacted(db: Queries, userId: string, messages: Message[]): Promise<Message[]> {
  const all = messages
    .filter((message) => storedJsonOf(message, 'reactions') !== undefined)
    .map((message) => ({
      message,
      kinds: kindsOf(message).map(({ emoji, rest }) => ({
        emoji,
        isOwn: rest.includes(userId),
        hasMore: Number.parseInt(rest.slice(COUNT.length), 10) > NAMED_USERS,
      })),
    }))
  const unsure = all.filter(({ kinds }) => kinds.some(({ isOwn, hasMore }) => hasMore && !isOwn))
  const ids = unsure.map(({ message }) => message.id)
  const own = ids.length > 0 ? await listOwn(db, userId, ids) : new Map<string, string[]>()
  for (const { message, kinds } of all) {
    const keys = own.get(message.id)
    const reacted = kinds.filter(({ emoji, isOwn }) => isOwn || keys?.includes(emojiKey(JSON.parse(`"${emoji}"`))))
    if (reacted.length > 0) setStoredJson(message, 'reacted', `[${reacted.map(({ emoji }) => `"${emoji}"`).join()}]`)
  }
  return messages
}

/** The keys of the emoji with which a user has reacted to these messages. By (user_id, message_id, emoji_key), without their rows. */
async function listOwn(db: Queries, userId: string, ids: string[]): Promise<Map<string, string[]>> {
  const rows = await db.all<{ message_id: string; keys: string }>(
    `SELECT message_id, string_agg(emoji_key, ' ') AS keys
       FROM reactions WHERE user_id = ? AND message_id ${isOneOf(db.dialect)} GROUP BY message_id`,
    userId,
    jsonList(ids),
  )
  return new Map(rows.map(({ message_id, keys }) => [message_id, keys.split(' ')]))
}
