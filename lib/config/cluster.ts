import { integer, key, section } from './key.ts'

/** The processes of one service. */
export const ClusterSection = section({
  workers: key(
    integer(1, 64),
    1,
    'PostgreSQL: the number of processes of this service, which share its port. They divide the default rate limit among them.',
  ),
})
