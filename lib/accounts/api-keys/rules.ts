/** What every API key begins with, so that one that got lost can be told from other secrets. */
export const KEY_PREFIX = 'cs_'
