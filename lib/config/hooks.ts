import { flag, key, section } from './key.ts'

/** Addresses at which other tools post. */
export const HooksSection = section({
  enabled: key(
    flag,
    undefined,
    'Whether other tools can post by incoming hooks. The command line turns it on unless this is false; a host that wants it sets true. Without it, the routes of hooks are 404.',
  ),
})
