import * as v from 'valibot'
import { integer, key, section, text } from './key.ts'

/** The processes of one service. */
export const ClusterSection = section({
  workers: key(
    integer(1, 64),
    1,
    'PostgreSQL: the number of processes of this service, which share its port. They divide the default rate limit among them.',
  ),
  poll_ms: key(
    integer(10, 1000),
    150,
    'Interval at which a process looks for what others have committed: the maximum delay of their events.',
    { unit: 'milliseconds' },
  ),
  signal_ms: key(integer(1, 1000), 50, 'How long typing and other ephemeral events are gathered for other processes.', {
    unit: 'milliseconds',
  }),
  beat_seconds: key(integer(1, 60), 2, 'Interval at which a process reports that it lives.', {
    unit: 'seconds',
  }),
  dead_seconds: key(
    integer(2, 600),
    10,
    'A process without a report for so long is taken for dead. At least twice cluster.beat_seconds.',
    { unit: 'seconds' },
  ),
  instance: key(
    v.pipe(text, v.maxLength(200, 'is too long')),
    '',
    'Containers with one host name: a name for each. A process that starts replaces the one of the same machine and name that has ended without a stop.',
  ),
})
