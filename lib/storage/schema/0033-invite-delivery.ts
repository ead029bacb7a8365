import type { Migration } from './migrations.ts'

export const inviteDelivery: Migration = {
  name: '0033-invite-delivery',
  statements: ({ key }) => [
    // 1 if the service mails the token to the address, and returns it to no user: then accepting verifies the address.
    'ALTER TABLE invites ADD COLUMN mailed INTEGER NOT NULL DEFAULT 0',
    // The API key that made it: an invite ends with its key.
    `ALTER TABLE invites ADD COLUMN key_id ${key}`,
  ],
}
