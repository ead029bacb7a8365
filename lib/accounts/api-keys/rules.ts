/** The prefix of every API key, so that a lost one can be recognised. */
export const KEY_PREFIX = 'cs_'
