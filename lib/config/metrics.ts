import { reloadableKey as key, previousSecrets, section, someText } from './key.ts'

/** The token of `/metrics`, and former ones. */
export const MetricsSection = section({
  token: key(someText, undefined, 'Bearer token that /metrics requires; by default none is required.', {
    secret: true,
  }),
  previous_tokens: key(
    previousSecrets(someText),
    [] as string[],
    'Former values of metrics.token, which /metrics still takes, until each monitoring system has the new one.',
    { secret: true },
  ),
})
