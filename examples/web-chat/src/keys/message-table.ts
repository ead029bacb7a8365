import type { Keys } from './table.ts'

/** Those of a message that has the focus. They are loaded with the first list of messages. */
export const MESSAGE_KEYS = {
  up: [{ key: 'ArrowUp' }, { key: 'k' }],
  down: [{ key: 'ArrowDown' }, { key: 'j' }],
  first: [{ key: 'Home' }],
  last: [{ key: 'End' }],
  inside: [{ key: 'ArrowRight' }],
  menu: [{ key: 'Enter' }],
  reply: [{ key: 'r' }],
  thread: [{ key: 't' }],
  edit: [{ key: 'e' }],
  react: [{ key: 'a' }],
  copy: [{ key: 'c' }],
  link: [{ key: 'l' }],
  pin: [{ key: 'p' }],
  unread: [{ key: 'u' }],
  remove: [{ key: 'Delete' }],
} as const satisfies Record<string, readonly Keys[]>
