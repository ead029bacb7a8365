import * as v from 'valibot'
import { MAX_LENGTH } from '../core/lengths.ts'
import { flag, integer, key, reloadableKey, section, text } from './key.ts'

const MAX_HOSTS = 1000

const HOSTS_FORM = `must be a list of at most ${MAX_HOSTS} names of hosts, with a port if one is meant, as hooks.example.org:8443`

const host = v.pipe(
  text,
  v.maxLength(MAX_LENGTH.subject, HOSTS_FORM),
  v.regex(/^([a-z\d.-]+|\[[\da-f:.]+\])(:[1-9]\d{0,4})?$/i, HOSTS_FORM),
)

/** Addresses of users that are called with events. */
export const WebhooksSection = section({
  enabled: key(
    flag,
    false,
    'Whether users can have events sent to URLs. Without it, the routes of webhooks are 404, and nothing is sent.',
  ),
  max_per_user: key(integer(1, 100), 20, 'Webhooks of a user, those of the bots of the user included.'),
  max_in_flight: key(integer(1, 10_000), 64, 'Calls of webhooks at a time, in each process.'),
  max_bytes: key(
    integer(1024, 1_048_576),
    65_536,
    'The maximum size of an event that is sent whole; of a larger one, only ids, numbers and instants are sent.',
    { unit: 'bytes' },
  ),
  keep_hours: key(integer(1, 336), 168, 'How long events are stored for webhooks that have not received them.', {
    unit: 'hours',
  }),
  trusted_hosts: reloadableKey(
    v.pipe(v.array(host, HOSTS_FORM), v.maxLength(MAX_HOSTS, HOSTS_FORM)),
    [] as string[],
    'Hosts whose URLs need no challenge before they are sent events: each user may name one of them.',
  ),
})
