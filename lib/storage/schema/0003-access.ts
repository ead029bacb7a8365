import type { Migration } from './migrations.ts'

export const access: Migration = {
  name: '0003-access',
  statements: ({ key, lean, real }) => [
    // Identities of users at providers. The issuer is part of the key: a provider's name may later be used for another
    // provider.
    `CREATE TABLE identities (
      provider ${key} NOT NULL, issuer ${key} NOT NULL, subject ${key} NOT NULL,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (provider, issuer, subject))${lean}`,
    'CREATE INDEX identities_of_user ON identities (user_id)',
    // Started sign-ins through providers. `binding_hash`: of a cookie of the browser that started it.
    `CREATE TABLE oauth_states (
      state_hash ${key} PRIMARY KEY,
      provider ${key} NOT NULL, binding_hash ${key} NOT NULL,
      verifier TEXT NOT NULL, nonce TEXT NOT NULL,
      redirect_to TEXT,
      link_user_id ${key} REFERENCES users ON DELETE CASCADE,
      expires_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX oauth_states_by_expiry ON oauth_states (expires_at)',

    `CREATE TABLE api_keys (
      id ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      name TEXT NOT NULL,
      key_hash ${key} NOT NULL UNIQUE,
      created_at BIGINT NOT NULL, expires_at BIGINT, last_used_at BIGINT)`,
    'CREATE INDEX api_keys_of_user ON api_keys (user_id)',
    `CREATE TABLE password_resets (
      token_hash ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      expires_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX password_resets_of_user ON password_resets (user_id)',

    `CREATE TABLE limit_profiles (
      id ${key} PRIMARY KEY,
      name TEXT NOT NULL, name_key ${key} NOT NULL UNIQUE,
      requests_per_second ${real} NOT NULL, burst INTEGER NOT NULL,
      description TEXT,
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL)`,
    `CREATE TABLE limit_assignments (
      id ${key} PRIMARY KEY,
      profile_id ${key} NOT NULL REFERENCES limit_profiles,
      method ${key} NOT NULL, path_pattern ${key} NOT NULL,
      created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
      UNIQUE (method, path_pattern))`,
    'CREATE INDEX limit_assignments_of_profile ON limit_assignments (profile_id)',
    // `tat`: the theoretical arrival time of GCRA; a bucket with a past time has no effect.
    `CREATE TABLE limit_buckets (bucket ${key} PRIMARY KEY, tat BIGINT NOT NULL)${lean}`,
    'CREATE INDEX limit_buckets_by_tat ON limit_buckets (tat)',
    // Failed sign-ins by account, whether the account exists or not. `account`: a digest of the address.
    `CREATE TABLE login_failures (
      account ${key} PRIMARY KEY,
      failures INTEGER NOT NULL,
      first_at BIGINT NOT NULL, blocked_until BIGINT NOT NULL)${lean}`,
    'CREATE INDEX login_failures_by_age ON login_failures (first_at)',
    // Browsers in which a user has signed in before: password guesses from elsewhere do not lock them out.
    `CREATE TABLE known_devices (
      token_hash ${key} PRIMARY KEY,
      user_id ${key} NOT NULL REFERENCES users ON DELETE CASCADE,
      expires_at BIGINT NOT NULL)${lean}`,
    'CREATE INDEX known_devices_of_user ON known_devices (user_id)',

    // The actor, action, subject, time and address of each entry. An entry outlives the users it refers to.
    `CREATE TABLE audit_log (
      id ${key} PRIMARY KEY,
      at BIGINT NOT NULL,
      act ${key} NOT NULL,
      actor_id ${key}, subject_id ${key},
      ip TEXT, detail TEXT)`,
  ],
}
