import * as v from 'valibot'
import { MAX_LENGTH } from '../core/lengths.ts'
import { flag, integer, key, section, text } from './key.ts'

/** The most contacts of a guest: each becomes a participant of the conversation of every guest. */
const MAX_CONTACTS = 20

const CONTACTS_FORM = `must be a list of at most ${MAX_CONTACTS} usernames`

/** Users without a sign-in. */
export const GuestsSection = section({
  enabled: key(flag, false, 'Let visitors in as guests, without a sign-in; if false, the routes of guests are 404.'),
  contacts: key(
    v.pipe(
      v.array(
        v.pipe(text, v.maxLength(MAX_LENGTH.username, `must have at most ${MAX_LENGTH.username} characters each`)),
        CONTACTS_FORM,
      ),
      v.maxLength(MAX_CONTACTS, CONTACTS_FORM),
    ),
    [] as string[],
    'The usernames of those who talk with guests: each guest gets a conversation with them, which the first one owns.',
  ),
  per_ip_per_hour: key(integer(1, 1_000_000), 20, 'New guests per hour from one IP address; 429 beyond.'),
  max: key(integer(1, 10_000_000), 10_000, 'Number of guests at a time; 429 beyond.'),
  idle_days: key(integer(1, 400), 30, 'The token of a guest that is unused for longer ends.', {
    unit: 'days',
  }),
  messages_per_min: key(integer(1, 1_000_000), 20, 'Messages of a guest per minute; 429 beyond.'),
})
