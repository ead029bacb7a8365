import { emojiKey } from '../../core/emoji.ts'
import { getStoredJson, setStoredJson } from '../../core/stored-json.ts'
import type { Dialect, Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { among, each, isErasedAuthor, literal, type Sql, sql } from '../../storage/sql.ts'
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
    sql`SELECT id, root_id, conversation_id, reaction_list, coalesce(octet_length(reaction_list), 0) AS size,
            CASE WHEN deleted_at IS NOT NULL OR ${isErasedAuthor(sql`messages.posted_by`)} THEN 1 ELSE 0
                END AS is_deleted
       FROM messages WHERE id ${among(db, ids)}`,
  )
}

/** The reactions of a message; none of a deleted one. */
export function reactionsOf({ is_deleted, reaction_list }: ReactionState): Reaction[] {
  return is_deleted || reaction_list === null ? [] : JSON.parse(reaction_list)
}

/** The list of reactions of the row of `messages`, from their rows, as JSON; null without any. */
export function reactionList(dialect: Dialect): Sql {
  const [list, object, json] =
    dialect === 'sqlite'
      ? [sql`json_group_array`, sql`json_object`, sql`json`]
      : [sql`json_agg`, sql`json_build_object`, sql``]
  return sql`(SELECT nullif(CAST(${list}(${json}(kind)) AS TEXT), '[]') FROM (
    SELECT ${object}('emoji', k.emoji, 'count', k.total, 'user_ids', ${json}((
             SELECT ${list}(user_id) FROM (
               SELECT f.user_id FROM reactions f
                WHERE f.message_id = messages.id AND f.emoji_key = k.emoji_key
                ORDER BY f.at LIMIT ${literal(NAMED_USERS)}) AS named))) AS kind
      FROM (SELECT emoji_key, min(emoji) AS emoji, count(*) AS total, min(at) AS since FROM reactions
             WHERE message_id = messages.id GROUP BY emoji_key) AS k
     ORDER BY k.since) AS kinds)`
}

const SET_LIST = onRows<{ id: string; list: string }>(
  { id: 'text', list: 'text' },
  (given) => sql`UPDATE messages SET reaction_list = given.list FROM ${given} WHERE messages.id = given.id`,
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

/** Composes the lists of several messages, and stores them. */
export function composeReactionLists(tx: Queries, ids: string[]): Promise<{ reaction_list: string | null }[]> {
  return tx.all(
    sql`UPDATE messages SET reaction_list = ${reactionList(tx.dialect)} WHERE id ${among(tx, ids)}
     RETURNING reaction_list`,
  )
}

/** A kind of reactions in a stored list. */
interface StoredKind {
  /** As JSON, without its quotes. */
  emoji: string
  count: number
  /** Where it ends in the list. */
  end: number
}

const BEGIN = '{"emoji":"'
const COUNT = '","count":'

/** The stored list of a message as {@link kindsOf} takes it; a list that the database has composed may have spaces. */
function compactList(message: Message): string | undefined {
  const json = getStoredJson(message, 'reactions')
  return json === undefined || json.startsWith(BEGIN, 1) ? json : JSON.stringify(JSON.parse(json))
}

/** The kinds of a list. Its users are not parsed: a page of messages can name ten thousand. */
function kindsOf(list: string): StoredKind[] {
  const kinds: StoredKind[] = []
  for (let begin = list.indexOf(BEGIN); begin >= 0; ) {
    const from = begin + BEGIN.length
    const to = list.indexOf('"', from)
    begin = list.indexOf(BEGIN, to)
    const count = Number.parseInt(list.slice(to + COUNT.length, to + COUNT.length + 8), 10)
    kinds.push({ emoji: list.slice(from, to), count, end: begin < 0 ? list.length : begin })
  }
  return kinds
}

function kindsNaming(list: string, kinds: StoredKind[], userId: string): boolean[] {
  let index = list.indexOf(userId)
  return kinds.map(({ end }) => {
    const isNamed = index >= 0 && index < end
    if (isNamed) index = list.indexOf(userId, end)
    return isNamed
  })
}

/** The maximum size of the reactions of a message in a response, in bytes. Each emoji may be in `reacted`, too. */
export function sizeOfReactions(message: Message): number {
  const list = compactList(message)
  return list === undefined ? 0 : kindsOf(list).reduce((sum, { emoji }) => sum + 6 * emoji.length + 20, list.length)
}

/**
 * Adds the own reactions of one user to messages that were just read, in the order of the list. It reads only those to
 * messages with more users than they name.
 */
export async function withReacted(db: Queries, userId: string, messages: Message[]): Promise<Message[]> {
  const all = messages.flatMap((message) => {
    const list = compactList(message)
    if (list === undefined) return []
    const kinds = kindsOf(list)
    return [{ message, kinds, isNamed: kindsNaming(list, kinds, userId) }]
  })
  const unsure = all.filter(({ kinds, isNamed }) => kinds.some(({ count }, n) => count > NAMED_USERS && !isNamed[n]))
  const ids = unsure.map(({ message }) => message.id)
  const own = ids.length > 0 ? await listOwn(db, userId, ids) : new Map<string, string[]>()
  // A page has a thousand kinds, but few different ones.
  const keyOf = memoized((emoji) => emojiKey(JSON.parse(`"${emoji}"`)))
  for (const { message, kinds, isNamed } of all) {
    const keys = own.get(message.id)
    const reacted = kinds.filter(({ emoji }, n) => isNamed[n] || keys?.includes(keyOf(emoji)))
    if (reacted.length > 0) setStoredJson(message, 'reacted', `[${reacted.map(({ emoji }) => `"${emoji}"`).join()}]`)
  }
  return messages
}

function memoized(compute: (text: string) => string): (text: string) => string {
  const kinds = new Map<string, string>()
  return (text) => {
    const value = kinds.get(text) ?? compute(text)
    kinds.set(text, value)
    return value
  }
}

/** The keys of the emoji with which a user has reacted to these messages. By (user_id, message_id, emoji_key), without their rows. */
async function listOwn(db: Queries, userId: string, ids: string[]): Promise<Map<string, string[]>> {
  // For each message by itself: from its statistics PostgreSQL may prefer to read the reactions of all users to all of them.
  const rows = await db.all<{ id: string; keys: string | null }>(
    sql`SELECT each.value AS id, (SELECT string_agg(emoji_key, ' ') FROM reactions
              WHERE user_id = ${userId} AND message_id = each.value) AS keys
       FROM ${each(db, ids)}`,
  )
  return new Map(rows.map(({ id, keys }) => [id, keys?.split(' ') ?? []]))
}
