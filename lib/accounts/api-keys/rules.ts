/** The prefix of the API keys of persons, so that a lost one can be recognised. */
export const KEY_PREFIX = 'cs_'

/** The prefix of the API keys of bots. */
export const BOT_KEY_PREFIX = 'csb_'

/** Whether a token has the form of an API key. */
export function isApiKey(token: string): boolean {
  return token.startsWith(KEY_PREFIX) || token.startsWith(BOT_KEY_PREFIX)
}
