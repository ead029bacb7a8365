/**
 * The means of access to an account, by name: whatever is one, or later gives a session, an API key, an identity, an
 * address or a way to set a password. The text is for the documentation.
 */
export const MEANS = {
  sessions: 'sessions',
  keys: 'API keys',
  bot_keys: 'API keys of bots that the user owns',
  grants: 'connected applications',
  identities: 'identities at providers',
  link_attempts: 'started links with a provider',
  reset_links: 'reset links',
  verification_links: 'links that verify the address',
  address_changes: 'requested changes of the address',
  undo_links: 'links that undo a change of the address',
  known_browsers: 'known browsers',
  invites: 'invites that the user has made',
  tokens: 'signed tokens',
  hooks: 'incoming hooks that the user has made',
  webhooks: 'webhooks',
} as const

/** The name of a means of access. */
export type Means = keyof typeof MEANS

/** Why sessions ended, as the audit log has it. */
export type EndReason =
  | 'limit'
  | 'idle'
  | 'absolute'
  | 'signed_in'
  | 'password'
  | 'address'
  | 'disabled'
  | 'admin'
  | 'lockdown'
  | 'takeover'
  | 'erasure'
  | 'merge'

/** What a cause ends: each means, with a note for the documentation if it is not simply all of them. The others stay. */
export type Ends = Partial<Record<Means, string>>

const EVERY: Record<Means, string> = {
  sessions: '',
  keys: '',
  bot_keys: '',
  grants: '',
  identities: '',
  link_attempts: '',
  reset_links: '',
  verification_links: '',
  address_changes: '',
  undo_links: '',
  known_browsers: '',
  invites: '',
  tokens: '',
  hooks: '',
  webhooks: '',
}

const BY_ADMINISTRATOR = {
  sessions: '',
  tokens: '',
  keys: '',
  grants: '',
  link_attempts: '',
  reset_links: '',
  address_changes: '',
  undo_links: '',
}

/** What ends access of others to an account, with what it ends. Every cause is here. */
export const CAUSES = {
  new_password: {
    title: 'the user changes the password',
    reason: 'password',
    ends: {
      sessions: 'except the current one',
      tokens: '',
      link_attempts: '',
      reset_links: '',
      address_changes: '',
      known_browsers: 'except this one',
    },
  },
  mailed_reset: {
    title: 'the password is reset by mail',
    reason: 'password',
    ends: {
      sessions: '',
      tokens: '',
      keys: 'without `keep_keys`',
      grants: 'without `keep_keys`',
      link_attempts: '',
      reset_links: '',
      address_changes: '',
      undo_links: 'except to this address',
      known_browsers: 'except this one',
    },
  },
  new_address: {
    title: 'the user changes the address',
    reason: 'address',
    ends: { reset_links: '', verification_links: '', address_changes: '' },
  },
  undone_address: {
    title: 'a change of the address is undone',
    reason: 'address',
    ends: {
      ...BY_ADMINISTRATOR,
      verification_links: '',
      known_browsers: '',
    },
  },
  administration: {
    title: 'an administrator sets the password or the address, or ends all sessions',
    reason: 'admin',
    ends: { ...BY_ADMINISTRATOR, verification_links: 'with the address' },
  },
  disabled: {
    title: 'an administrator disables the user',
    reason: 'disabled',
    ends: {
      ...BY_ADMINISTRATOR,
      keys: 'refused until the user is enabled',
      grants: 'refused until the user is enabled',
      bot_keys: 'refused until the user is enabled',
      webhooks: 'nothing sent until then',
      invites: '',
    },
  },
  lockdown: { title: 'lockdown', reason: 'lockdown', ends: EVERY },
  takeover: {
    title: 'another person proves the address, or resets the password of an unverified account',
    reason: 'takeover',
    ends: EVERY,
  },
  erasure: { title: 'the user is erased', reason: 'erasure', ends: EVERY },
  merge: { title: 'the user is merged into another one, who has the invites', reason: 'merge', ends: EVERY },
} as const satisfies Record<string, { title: string; reason: EndReason; ends: Ends }>

/** Why access ends. */
export type Cause = keyof typeof CAUSES
