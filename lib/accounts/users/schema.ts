import * as v from 'valibot'
import { ROLE_NAME } from '../../core/actor.ts'
import { isEmail, isLabel, isReservedName, isUsername, PATTERNS, RESERVED_NAMES } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, text } from '../../core/schema.ts'
import { parseUrl } from '../../core/url.ts'

/** An email address; outer spaces are removed, the rest is stored as given. */
export const Email = v.pipe(
  text(MAX_LENGTH.email),
  v.check(isEmail, 'must be an e-mail address'),
  v.metadata({ pattern: PATTERNS.email }),
  v.description('An email address; outer spaces are trimmed'),
)

/**
 * The provider's id of a user. It is compared unchanged: texts that both databases store, within OpenID's maximum
 * length.
 */
export const Subject = v.pipe(text(MAX_LENGTH.subject), v.minLength(1))

/** Texts separated by commas, not more than ids may be. */
const ID_LIST = /^[^,]*(,[^,]*){0,99}$/

/** The public name of a user; unique, ignoring case. */
export const Username = v.pipe(
  text(MAX_LENGTH.username),
  v.minLength(1),
  v.check(
    isUsername,
    'must be visible, with no control, invisible, bidirectional or variation characters and no outer spaces',
  ),
  v.metadata({ pattern: PATTERNS.username }),
  v.description(
    'Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces',
  ),
)

/** The username that a user gets: not one that addresses several users. */
export const ChosenUsername = v.pipe(
  Username,
  v.check((name) => !isReservedName(name), 'is reserved, as it addresses several users'),
  v.description(
    `Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces; not ${RESERVED_NAMES.map((name) => `\`${name}\``).join(', ')}`,
  ),
)

/** The username of a new user, who need not choose one. */
export const OptionalUsername = v.optional(
  v.pipe(
    ChosenUsername,
    v.description(
      'Unique without regard to case; visible, with no control, invisible, bidirectional or variation characters. Left out, it is derived from the display name, in lower case and with dots for spaces, or from the email address; a number is added if it is taken',
    ),
  ),
)

/** A name that is displayed instead of the username. */
export const DisplayName = v.pipe(
  text(MAX_LENGTH.name),
  v.check(
    (name) => name === '' || isLabel(name),
    'must be visible, with no control characters and none that turn the text around it',
  ),
  v.metadata({ pattern: PATTERNS.label_or_empty }),
  v.description(
    'Shown instead of the username: visible, or empty; no control characters and no bidirectional control characters',
  ),
)

/** The https address of a photo that the host has: as a browser would request it, or empty. */
export const AvatarUrl = v.pipe(
  text(MAX_LENGTH.url),
  v.check((url) => url === '' || isPhotoUrl(url), 'must be an https URL without credentials, or empty'),
  v.metadata({ pattern: '^(\\s*[Hh][Tt][Tt][Pp][Ss]:.+)?$' }),
  v.description('An https URL of at most 2048 visible characters; an empty text removes it'),
  v.transform((url) => (url === '' ? '' : new URL(url).href)),
  v.maxLength(MAX_LENGTH.url),
)

function isPhotoUrl(text: string): boolean {
  const url = parseUrl(text)
  return url?.protocol === 'https:' && !url.username && !url.password
}

/** A photo as it is read. */
export const ReadAvatar = v.optional(v.pipe(v.string(), v.description('The URL of a photo of the user')))

/** A new password: at least 8 characters, at most 72 bytes of UTF-8 (after NFKC normalisation), no NUL. */
export const Password = v.pipe(
  text(MAX_LENGTH.password),
  v.check((password) => [...password.normalize('NFKC')].length >= 8, 'must be at least 8 characters'),
  v.check(
    (password) => new TextEncoder().encode(password.normalize('NFKC')).length <= 72,
    'must be at most 72 bytes of UTF-8',
  ),
  v.metadata({ maxLength: 72, pattern: PATTERNS.password }),
  v.description('At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation'),
)

/** A role in the service: `admin`, `member`, `read_only`, `guest`, or one of `access.roles`. */
export const Role = v.pipe(
  text(MAX_LENGTH.role),
  v.regex(ROLE_NAME, 'must be the name of a role'),
  v.metadata({ pattern: ROLE_NAME.source }),
)

export const Roles = v.pipe(v.array(Role), v.minLength(1))

/** The kind of a user who is no person. */
export const OtherKind = v.picklist(['guest', 'bot'])
export type OtherKind = v.InferOutput<typeof OtherKind>

/** The kind of a user or an author. */
export const ShownKind = v.optional(v.pipe(OtherKind, v.description('Missing for a person')))

/** A user as the user reads it. */
export const User = v.object({
  id: Id,
  email: v.optional(v.pipe(v.string(), v.description('Missing for a user of a host that has given none'))),
  email_verified: v.pipe(v.boolean(), v.description('Whether the address was verified to belong to the user')),
  username: v.string(),
  display_name: v.optional(v.string()),
  avatar_url: ReadAvatar,
  roles: Roles,
  kind: ShownKind,
})
export type User = v.InferOutput<typeof User>

/** A user as an administrator reads it. */
export const Account = v.object({
  ...User.entries,
  created_at: Instant,
  disabled_at: v.optional(Instant),
  subject: v.optional(v.pipe(v.string(), v.description("The host's own id of the user, where it has the login"))),
  owner_id: v.optional(v.pipe(Id, v.description('The user whose bot it is'))),
})
export type Account = v.InferOutput<typeof Account>

export const AccountAnswer = v.object({ user: Account })
export type AccountAnswer = v.InferOutput<typeof AccountAnswer>

export const UserInput = v.object({
  username: ChosenUsername,
  email: Email,
  email_verified: v.optional(
    v.pipe(v.boolean(), v.description('false: the address must still be verified, for example by a mailed link')),
    true,
  ),
  password: v.optional(v.pipe(Password, v.description('Without it, the user cannot sign in yet'))),
  roles: v.optional(Roles, ['member']),
  display_name: v.optional(DisplayName),
})
export type UserInput = v.InferOutput<typeof UserInput>

/** An administrator's change of an account; missing fields keep their value. */
export const AccountChanges = v.object({
  username: v.optional(ChosenUsername),
  email: v.optional(
    v.pipe(Email, v.description('A new address is unverified unless `email_verified` is true as well')),
  ),
  email_verified: v.optional(v.pipe(v.boolean(), v.description('Whether the address counts as verified'))),
  roles: v.optional(Roles),
  disabled: v.optional(v.pipe(v.boolean(), v.description('true ends the sessions and streams of the user'))),
  display_name: v.optional(
    v.pipe(DisplayName, v.description('At least one visible character; an empty text removes it')),
  ),
  password: v.optional(v.pipe(Password, v.description('Ends the other sessions of the user'))),
  owner_id: v.optional(v.pipe(Id, v.description('The user whose bot it is from now on'))),
})
export type AccountChanges = v.InferOutput<typeof AccountChanges>

/** An account with the numbers of what belongs to it, for an operator. */
export const AccountFacts = v.object({
  user: Account,
  has_password: v.boolean(),
  locked_until: v.optional(v.pipe(Instant, v.description('After too many failed sign-ins'))),
  last_seen_at: v.optional(v.pipe(Instant, v.description('The last use of a session'))),
  sessions: v.pipe(v.number(), v.integer()),
  keys: v.pipe(v.number(), v.integer(), v.description('API keys')),
  identities: v.pipe(v.number(), v.integer(), v.description('Identities at sign-in providers')),
  conversations: v.pipe(v.number(), v.integer()),
})
export type AccountFacts = v.InferOutput<typeof AccountFacts>

/** The number of sessions, keys, identities and invites that a lockdown has ended. */
export const Lockdown = v.object({
  sessions: v.pipe(v.number(), v.integer()),
  keys: v.pipe(v.number(), v.integer(), v.description('API keys, those of bots of the user too')),
  identities: v.pipe(v.number(), v.integer(), v.description('Identities at sign-in providers')),
  invites: v.pipe(
    v.number(),
    v.integer(),
    v.description('Invites created by the user, those of newcomers too, now revoked'),
  ),
})
export type Lockdown = v.InferOutput<typeof Lockdown>

/** What happens to the messages of an erased user. */
export const Erasure = v.object({
  messages: v.optional(
    v.pipe(
      v.picklist(['keep', 'erase']),
      v.description('`keep` keeps them without an author, `erase` erases their text'),
    ),
    'keep',
  ),
})
export type Erasure = v.InferOutput<typeof Erasure>

export const UsersQuery = v.object({
  query: v.optional(v.pipe(text(MAX_LENGTH.search), v.description('Prefix of a username or an email address'))),
  subject: v.optional(v.pipe(Subject, v.description("Only the user with this id of the host's own"))),
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type UsersQuery = v.InferOutput<typeof UsersQuery>

/** The most people that one call returns by their ids. */
export const MAX_PEOPLE = 100

export const PeopleQuery = v.object({
  query: v.optional(
    v.pipe(
      text(MAX_LENGTH.search),
      v.description(
        'Each word of it begins a word of the username or the display name; a leading `@` is dropped. At least two characters, or one of a script without spaces between words, such as Chinese. Instead of `ids`',
      ),
    ),
  ),
  ids: v.optional(
    v.pipe(
      v.string(),
      v.maxLength(MAX_PEOPLE * 37),
      v.regex(ID_LIST, `must be at most ${MAX_PEOPLE} ids, separated by commas`),
      v.description('Up to 100 user ids, separated by commas: these users, in this order. Instead of `query`'),
    ),
  ),
  for: v.optional(
    v.pipe(
      v.picklist(['direct', 'add']),
      v.description(
        'With `query`: only users with whom the caller could open a direct conversation, or that the caller could add to one',
      ),
    ),
  ),
  limit: Limit(20, 50),
})
export type PeopleQuery = v.InferOutput<typeof PeopleQuery>

/** A user as other users read it. */
export const Person = v.object({
  id: Id,
  username: v.string(),
  display_name: v.optional(v.string()),
  avatar_url: ReadAvatar,
  kind: v.pipe(
    v.picklist(['person', 'bot', 'guest', 'system']),
    v.description('`bot`: a program of a user; `guest`: without a sign-in; `system`: a part of the host'),
  ),
  disabled: v.optional(v.pipe(v.literal(true), v.description('The account is disabled'))),
})
export type Person = v.InferOutput<typeof Person>

/** One user as other users read it. */
export const PersonAnswer = v.object({ user: Person })
export type PersonAnswer = v.InferOutput<typeof PersonAnswer>

/** Users as other users read them. */
export const People = v.object({ users: v.array(Person) })
export type People = v.InferOutput<typeof People>

export const AccountPage = v.object({ users: v.array(Account), next_after: v.optional(Id) })
export type AccountPage = v.InferOutput<typeof AccountPage>
