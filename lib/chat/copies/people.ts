import { PLACEHOLDER_DOMAINS } from '../../accounts/users/rules.ts'
import { findUser, findUserByUsername } from '../../accounts/users/store.ts'
import { insertUser, nameSystemUser, updateUser } from '../../accounts/users/store-naming.ts'
import { isReservedName } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import type { CopiedUser } from './reading.ts'
import { findBySubject, findBySystemName, findByVerifiedEmail, findErasure, type StandIn } from './store.ts'

/** How the stand-in for a user of an archive was found. */
export type FoundBy = 'id' | 'subject' | 'email' | 'placeholder' | 'erased'

/** The stand-in for a user of an archive. */
export interface Standing {
  copied: CopiedUser
  by: FoundBy
  /** Missing if the user was erased here. */
  user?: StandIn
  /** Whether the texts of the user were erased, too. */
  erased_texts?: true
}

/**
 * Finds the stand-in for each user of an archive: the same user, else the one with the host's own id, else the one
 * with the same verified address. Others get an account that no user can sign in to. A user stands for only one.
 */
export async function findPeople(db: Queries, users: readonly CopiedUser[]): Promise<Standing[]> {
  const names = new Set<string>()
  const people: (Standing | CopiedUser)[] = []
  // Users with the same id first, so that none of them is taken for another one.
  for (const copied of users) {
    const erased = await findErasure(db, copied.id)
    const same = erased === undefined ? await findUser(db, copied.id) : undefined
    if (same) names.add(same.id)
    people.push(
      erased
        ? { copied, by: 'erased', ...(erased === 'erase' && { erased_texts: true as const }) }
        : same
          ? { copied, by: 'id', user: { id: same.id, username: same.username } }
          : copied,
    )
  }
  const found: Standing[] = []
  for (const person of people) found.push('by' in person ? person : await findOther(db, person, names))
  return found
}

async function findOther(db: Queries, copied: CopiedUser, names: Set<string>): Promise<Standing> {
  const { kind, subject, email } = copied
  const findNamed = kind === 'system' ? findBySystemName : findBySubject
  const bySubject = subject === null ? undefined : await findNamed(db, subject)
  const byEmail = email === null || kind === 'system' ? undefined : await findByVerifiedEmail(db, email)
  for (const [by, user] of [
    ['subject', bySubject],
    ['email', byEmail],
  ] as const) {
    if (user === undefined || names.has(user.id)) continue
    names.add(user.id)
    return { copied, by, user }
  }
  return { copied, by: 'placeholder', user: { id: copied.id, username: copied.username } }
}

/** How many names are tried for a placeholder. */
const MAX_NAMES = 100

/**
 * Makes the account of a placeholder: that of a person is disabled, has no password and no address. With the id of the archive, so that
 * it stands for the same user in the next conversation.
 *
 * @throws Error when no username like the one of the archive is free
 */
export async function insertPlaceholder(tx: Tx, { id, username, display_name, kind, subject }: CopiedUser, at: Micros) {
  for (let n = 1; n <= MAX_NAMES; n++) {
    const end = n === 1 ? '' : `-${n}`
    const name = `${username.slice(0, MAX_LENGTH.username - end.length)}${end}`
    if (isReservedName(name) || (await findUserByUsername(tx, name))) continue
    const row = {
      id,
      email: `${id}@${kind === 'system' ? PLACEHOLDER_DOMAINS.system : PLACEHOLDER_DOMAINS.host}`,
      email_verified_at: null,
      username: name,
      display_name,
      avatar_url: null,
      roles: 'member',
      kind: 'person' as const,
      password_hash: null,
      disabled_at: at,
      created_at: at,
    }
    if (await insertUser(tx, row)) break
    // The host continues to use its part under this name.
    if (kind === 'system' && subject !== null) await nameSystemUser(tx, id, subject)
    else await updateUser(tx, row, at)
    tx.audit({ act: 'user.created', subject_id: id })
    return
  }
  throw new Error(`No username like ${username} is free`)
}
