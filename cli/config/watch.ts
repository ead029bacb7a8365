import type { OwnReload } from '../../lib/cluster/reload-requests.ts'
import { type Config, ConfigError } from '../../lib/config/parse.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import type { Chat } from '../../lib/index.ts'
import { toFailure } from '../errors.ts'
import type { Logger } from '../logging/logger.ts'
import { type ConfigFlags, loadConfig } from './load.ts'
import { listWarnings, refuseIfStrict } from './warnings.ts'

/** The flags with which `serve` was started. */
export type ReloadFlags = ConfigFlags & { strict?: boolean | undefined }

/** How a process reads its configuration again. */
export interface Reloading {
  flags: ReloadFlags
  log: Logger
  /** Changes what was read for this process. */
  adapt?: (config: Config) => Config
  /** Called with the configuration that is then in effect. */
  onReloaded?: (config: Config) => void
}

/**
 * Has a service read its configuration again on request: of `chat-server reload`, or of the function returned, which may
 * also be given the configuration.
 */
export function reloadable(
  chat: Chat,
  { flags, log, adapt = (config) => config, onReloaded = () => {} }: Reloading,
): (config?: Config) => Promise<OwnReload> {
  const { settings, cluster } = contextOf(chat)
  const reload = (config?: Config) =>
    attempt(log, async () => {
      const reloaded = await chat.reload(config ?? adapt(readAgain(flags, log)))
      log.setLevel(settings.current().log.level)
      onReloaded(settings.current())
      return reloaded
    })
  cluster.onReload(() => reload())
  return reload
}

/** @throws ConfigError; UsageError for a warning under `--strict` */
export function readAgain(flags: ReloadFlags, log: Logger): Config {
  const { config, warnings } = loadConfig(flags)
  const all = [...warnings, ...listWarnings(config)]
  refuseIfStrict(all, flags)
  for (const warning of all) log.warn(warning)
  return config
}

/** Runs a reload. A failure changes nothing, and is logged. */
export async function attempt(
  log: Logger,
  reload: () => Promise<{ changed: string[]; needs_restart: string[] }>,
): Promise<OwnReload> {
  try {
    return { reloaded: true, ...(await reload()) }
  } catch (error) {
    const reasons = reasonsOf(error)
    log.error('The configuration was not reloaded: nothing has changed.', { reason: reasons.join('; ') })
    return { reloaded: false, reasons }
  }
}

function reasonsOf(error: unknown): string[] {
  if (!(error instanceof ConfigError)) return [toFailure(error).message]
  return error.problems.map(({ key, message }) => (key ? `${key}: ${message}` : message))
}
