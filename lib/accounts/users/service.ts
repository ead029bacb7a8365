import { randomInt } from 'node:crypto'
import type { Context } from '../../context.ts'
import { assertRoles } from '../../core/access.ts'
import { type Actor, assertAdmin, joinRoles, refuseKeys, splitRoles } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { useCase } from '../../core/use-case.ts'
import type { Queries } from '../../storage/database.ts'
import { byActor } from '../audit/rules.ts'
import { hasSignIn } from '../authentication/rules.ts'
import { toAccount, toAccounts } from './accounts.ts'
import { refuseAssistantName } from './assistant-names.ts'
import { noteGuestUse } from './guest-use.ts'
import { photosOf } from './photos.ts'
import { assertNoGuest, assertStillAdmin, toActor, type UserKind } from './rules.ts'
import { deriveUsername, isGivable } from './rules-naming.ts'
import { type Account, type AccountPage, UserInput, UsersQuery } from './schema.ts'
import { findUser, hasUsers, listUsers, listUsersNamed, lockUsers, type UserRow } from './store.ts'
import { isActive } from './store-bots.ts'
import { insertUser } from './store-naming.ts'
import { isOfService } from './store-system.ts'

/**
 * Creates a user, as an administrator.
 *
 * @throws ChatError `forbidden`, also with an API key for a user with a password or the role `admin`; `setup_required`
 *   before the first user exists; `email_taken`, `username_taken`
 */
export const create = useCase({
  takes: ['actor'],
  input: UserInput,
  errors: ['email_taken', 'username_taken'],
  run: async (ctx, actor, input): Promise<{ user: Account }> => {
    assertAdmin(actor)
    assertRoles(ctx.access.service, 'roles', input.roles)
    assertNoGuest('person', input.roles)
    // Otherwise a stolen key could create a separate login, which would outlive the revoked key.
    if (input.password !== undefined || input.roles.includes('admin')) refuseKeys(actor)
    // A host with its own authentication needs no set-up.
    if (hasSignIn(ctx) && !(await hasUsers(ctx.db))) throw new ChatError('setup_required')
    const hasher = { user: actor.user_id || undefined, ip: actor.ip }
    const password_hash =
      input.password === undefined ? null : await ctx.accounts.passwords.hash(input.password, hasher)
    return ctx.write(async (tx) => {
      assertStillAdmin(await lockUsers(tx, [actor.user_id], { admins: false }), actor)
      const row = await addUser(ctx, tx, { ...input, password_hash })
      await ctx.accounts.joinRooms(tx, row, actor.ip)
      tx.audit({ act: 'user.created', ...byActor(actor), subject_id: row.id, detail: { roles: splitRoles(row.roles) } })
      return { user: await toAccount(tx, row, photosOf(ctx.config)) }
    })
  },
})

/**
 * A page of users, oldest first.
 *
 * @throws ChatError `forbidden`
 */
export const list = useCase({
  takes: ['actor'],
  input: UsersQuery,
  run: async (ctx, actor, input): Promise<AccountPage> => {
    assertAdmin(actor)
    const rows = await listUsers(ctx.db, input, input.after ?? '', input.limit + 1)
    const users = await toAccounts(ctx.db, rows.slice(0, input.limit), photosOf(ctx.config))
    return { users, ...(rows.length > input.limit && { next_after: users.at(-1)!.id }) }
  },
})

/**
 * The account with this id, username or email address.
 *
 * @throws ChatError `forbidden`; `not_found`; `conflict` when one user's name is another one's address
 */
export const find = useCase({
  takes: ['actor', 'name'],
  errors: ['forbidden', 'not_found', 'conflict'],
  run: async (ctx, actor, name): Promise<Account> => {
    assertAdmin(actor)
    const [row, other] = name.length > MAX_LENGTH.email ? [] : await listUsersNamed(ctx.db, name)
    if (!row) throw new ChatError('not_found', { message: 'There is no such user.' })
    if (other) throw new ChatError('conflict', { message: 'Two users are called that: say the id.' })
    return toAccount(ctx.db, row, photosOf(ctx.config))
  },
})

/**
 * The actor of a user, for calls in the user's name without a session.
 *
 * @throws ChatError `not_found`, also for the bot of a hook; `account_disabled`, also for the bot of a disabled owner
 */
export const actor = useCase({
  takes: ['user_id'],
  errors: ['not_found', 'account_disabled'],
  run: async (ctx, userId): Promise<Actor> => {
    const row = await findUser(ctx.db, userId)
    if (!row) throw new ChatError('not_found')
    if (row.disabled_at) throw new ChatError('account_disabled')
    if (await isOfService(ctx.db, userId)) throw new ChatError('not_found', { message: NO_ACCOUNT })
    if (!(await isActive(ctx.db, row))) throw new ChatError('account_disabled')
    await noteGuestUse(ctx, row)
    return toActor(row)
  },
})

const NO_ACCOUNT = 'This user has no account: get the actor of a part of the host from chat.system.'

/** The first numbers after a taken username; then random ones, so that the search ends however many users have the name. */
const NUMBERS = ['', 2, 3, 4, 5, 6, 7, 8, 9, 10]
const RANDOM_NUMBERS = [10_000, 1_000_000_000, 1_000_000_000]

/**
 * Adds a user inside a transaction, with a username derived from the displayed name or the address if none is given. Several
 * users with one name get different ones, also at the same time.
 *
 * @throws ChatError `email_taken`; `username_taken` for a given username
 */
export async function addNamedUser(
  ctx: Context,
  tx: Queries,
  { username, ...user }: Omit<NewUser, 'username'> & { username?: string | undefined },
): Promise<UserRow> {
  if (username !== undefined) return addUser(ctx, tx, { ...user, username })
  const name = deriveUsername(user.display_name, user.email)
  for (const number of [...NUMBERS, ...RANDOM_NUMBERS.map((below) => randomInt(below))]) {
    if (!isGivable(`${name}${number}`)) continue
    try {
      return await addUser(ctx, tx, { ...user, username: `${name}${number}` })
    } catch (error) {
      if (!(error instanceof ChatError && error.code === 'username_taken')) throw error
    }
  }
  throw new ChatError('username_taken')
}

type NewUser = Omit<UserInput, 'password'> & { password_hash: string | null; kind?: UserKind }

/** Adds a user inside a transaction. @throws ChatError `email_taken`, `username_taken` */
export async function addUser(ctx: Context, tx: Queries, user: NewUser): Promise<UserRow> {
  refuseAssistantName(ctx, user.username)
  const row: UserRow = {
    id: ctx.id(),
    email: user.email.trim(),
    email_verified_at: user.email_verified ? ctx.now() : null,
    username: user.username.normalize('NFC'),
    display_name: user.display_name ?? null,
    avatar_url: null,
    roles: joinRoles(user.roles),
    kind: user.kind ?? 'person',
    password_hash: user.password_hash,
    disabled_at: null,
    created_at: ctx.now(),
  }
  const conflict = await insertUser(tx, row)
  if (conflict) throw new ChatError(conflict)
  return row
}
