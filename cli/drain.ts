import type { Config } from '../lib/config/parse.ts'

/**
 * Seconds within which a service stops, if its database responds: after the delay, requests take up to ten seconds, and
 * answers `assistant.drain_seconds`.
 */
export function drainSeconds({ assistant, server }: Config, delay = server.drain_delay_seconds): number {
  return delay + Math.max(10, assistant.drain_seconds)
}
