import type { Primitive, Row } from '../database.ts'

/**
 * The columns of the tables of a conversation that name a user: one id, several with commas between them, two as a pair, or
 * values in JSON. Lists in JSON are composed again from their rows.
 */
export const USER_COLUMNS: Record<string, Record<string, 'id' | 'list' | 'pair' | 'json'>> = {
  conversations: { system_id: 'id', pair_key: 'pair' },
  participants: { user_id: 'id' },
  thread_members: { user_id: 'id' },
  messages: {
    ...{ posted_by: 'id', deleted_by: 'id', pinned_by: 'id', invoked_by: 'id' },
    ...{ mentioned: 'list', mention_origins: 'json' },
  },
  reactions: { user_id: 'id' },
  attachments: { uploaded_by: 'id' },
}

const SEPARATOR = { id: '', list: ',', pair: ':' }

/** The users that a row names. */
export function usersIn(table: string, row: Row): string[] {
  return Object.entries(USER_COLUMNS[table] ?? {}).flatMap(([column, form]) =>
    typeof row[column] === 'string' ? split(row[column], form) : [],
  )
}

/** The row with other users, without those for which `toUser` has none: a pair of one is none. */
export function withUsers(table: string, row: Row, toUser: (id: string) => string | undefined): Row {
  const changed: [string, Primitive][] = Object.entries(USER_COLUMNS[table] ?? {}).flatMap(([column, form]) => {
    const value = row[column]
    if (typeof value !== 'string') return []
    if (form === 'json') return [[column, value.replaceAll(ID_IN_JSON, (_, id) => `"${toUser(id) ?? ''}"`)] as const]
    const before = split(value, form)
    const ids = before.map(toUser).filter((id) => id !== undefined)
    if (form === 'pair') return [[column, ids.length === before.length ? ids.sort().join(':') : null] as const]
    return [[column, ids.length > 0 ? ids.sort().join(SEPARATOR[form]) : null] as const]
  }) as [string, Primitive][]
  return { ...row, ...Object.fromEntries(changed) }
}

/** An id that is a value, and no name of one. */
const ID_IN_JSON = /"([0-9a-f-]{36})"(?!:)/g

function split(value: string, form: 'id' | 'list' | 'pair' | 'json'): string[] {
  if (form === 'json') return [...value.matchAll(ID_IN_JSON)].map(([, id]) => id!)
  return form === 'id' ? [value] : value.split(SEPARATOR[form]).filter((id) => id !== '')
}
