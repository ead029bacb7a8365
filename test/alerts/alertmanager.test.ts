import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { findProgram } from '../support/bus-servers.ts'
import { startService } from '../support/service.ts'

const PROGRAM = findProgram(['alertmanager', 'prometheus-alertmanager'])
if (!PROGRAM) console.log('Test of Alertmanager skipped: alertmanager not found')

const PATIENT = { timeout: 30_000, interval: 50 }

const configOf = (api_url: string) => `
route: { receiver: chat, group_by: [alertname], group_wait: 100ms, group_interval: 200ms, repeat_interval: 1h }
receivers:
  - name: chat
    slack_configs: [{ api_url: '${api_url}', send_resolved: true }]
`

/** Starts Alertmanager on a port of its own. @returns where it listens */
async function startAlertmanager(apiUrl: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'chat-alertmanager-'))
  await writeFile(join(folder, 'config.yaml'), configOf(apiUrl))
  const options = ['--web.listen-address=127.0.0.1:0', '--cluster.listen-address=', `--storage.path=${folder}/data`]
  const child = spawn(PROGRAM!, [`--config.file=${folder}/config.yaml`, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    child.kill()
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  })
  let log = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', (data) => (log += data))
  const port = await vi.waitFor(() => {
    const found = /Listening on.*address=127\.0\.0\.1:(\d+)/.exec(log)?.[1]
    if (!found) throw new Error(`Alertmanager does not listen:\n${log}`)
    return found
  }, PATIENT)
  return `http://127.0.0.1:${port}`
}

it.skipIf(!PROGRAM)('Alertmanager fires and resolves an alert once each', { timeout: 90_000 }, async () => {
  const service = await startService('sqlite::memory:')
  onTestFinished(service.close)
  const ada = await service.signIn('ada')
  const { conversation_id } = await ada.conversations.create({ title: 'Alerts' })
  const { url } = await ada.hooks.create(conversation_id, { name: 'Alerts' })
  const address = await startAlertmanager(service.base_url + url)
  const alert = (alertname: string, more: object = {}) =>
    fetch(`${address}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ labels: { alertname }, startsAt: new Date(Date.now() - 60_000).toISOString(), ...more }]),
    })
  const seen = (...patterns: RegExp[]) =>
    vi.waitFor(async () => {
      const { messages } = await ada.messages.list(conversation_id)
      expect(messages.map(({ content }) => content)).toEqual(patterns.map((each) => expect.stringMatching(each)))
    }, PATIENT)

  await alert('DiskFull')
  await seen(/FIRING:1.*DiskFull/)
  await alert('DiskFull', { endsAt: new Date(Date.now() - 1_000).toISOString() })
  await seen(/FIRING:1.*DiskFull/, /RESOLVED.*DiskFull/)
  // Several intervals later: what was not taken comes again at each.
  await alert('Later')
  await seen(/FIRING:1.*DiskFull/, /RESOLVED.*DiskFull/, /FIRING:1.*Later/)
  const metrics = await (await fetch(`${address}/metrics`)).text()
  const ofSlack = (name: string) => [...metrics.matchAll(new RegExp(`^${name}{[^}]*"slack"[^}]*} (\\d+)$`, 'gm'))]
  expect(ofSlack('alertmanager_notifications_total').map(([, count]) => count)).toEqual(['3'])
  for (const [line, count] of ofSlack('alertmanager_notifications_failed_total'))
    expect([line, count]).toEqual([line, '0'])
})
