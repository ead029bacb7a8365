import { spawnSync } from 'node:child_process'

/** Whether promtool is installed; without it the tests that need it are skipped. */
export const hasPromtool = spawnSync('promtool', ['--version']).status === 0

if (!hasPromtool) console.log('Checks of metrics and alerts by Prometheus skipped: promtool not found')

/** Runs `promtool`; only its exit code is for programs. */
export function promtool(args: string[], { cwd, input }: { cwd?: string; input?: string } = {}) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, input, encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}
