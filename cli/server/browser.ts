import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/**
 * Shows `url` in the default browser, if there is one.
 *
 * Not by listhen: it runs a script from the shared temporary folder, and ends the process if that fails.
 */
export function openBrowser(url: string, onFailure: (error: Error) => void): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  spawn(command!, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', onFailure)
    .unref()
}
