import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Mail } from '../../lib/index.ts'
import { loadTexts } from '../../lib/mail/templates.ts'
import { TEXTS } from '../../lib/mail/texts.ts'
import { startService } from '../support/service.ts'

/** A folder with these files, deleted after the test. */
function folder(files: Record<string, string>): string {
  const path = mkdtempSync(join(tmpdir(), 'chat-mail-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}

it('texts of files replace those of the service, mail by mail', async () => {
  const templates = folder({
    'reset_password.txt': '\ufeffSubject: Für {username}\r\n\r\nHier: {link}\r\n',
    'notes.md': 'not a mail',
  })
  const texts = await loadTexts(templates)
  expect(texts.reset_password).toEqual({ subject: 'Für {username}', text: 'Hier: {link}\n' })
  expect(texts.verify_email).toBe(TEXTS.verify_email)
  expect(await loadTexts(undefined)).toBe(TEXTS)

  const mails: Mail[] = []
  const service = await startService('sqlite::memory:', {
    config: { mail: { templates } },
    ports: {
      mail(mail) {
        mails.push(mail)
      },
    },
  })
  onTestFinished(service.close)
  const { email } = await service.signIn('founder')
  await service.client().resets.request({ email })
  await expect.poll(() => mails, { timeout: 30_000 }).toHaveLength(1)
  expect(mails[0]).toMatchObject({ subject: 'Für founder', text: `Hier: ${mails[0]!.token}\n` })
})

it.each([
  ['reset.txt', 'Subject: x\n\n{link}', 'reset.txt is no mail: the names are reset_password.txt, '],
  ['invite.txt', 'Hello\n\n{link}', 'must begin with "Subject: …"'],
  ['invite.txt', 'Subject: x\nBcc: eve@example.org\n\n{link}', 'must begin with "Subject: …"'],
  ['invite.txt', 'Subject: x\n\nNo link', 'has no {link}'],
  ['invite.txt', 'Subject: {link}\n\n{link}', 'must not have {link}'],
  ['invite.txt', 'Subject: x\n\n{link} {password}', 'has {password}; only {link} and {username} are replaced'],
  ['invite.txt', `Subject: ${'x'.repeat(201)}\n\n{link}`, 'more than 200 characters'],
  ['invite.txt', `Subject: x\n\n{link}${'x'.repeat(16_384)}`, 'more than 16384 bytes'],
])('%s with %j is refused', async (name, content, message) => {
  await expect(loadTexts(folder({ [name]: content }))).rejects.toThrow(message)
})

it('a folder that does not exist is refused', async () => {
  await expect(loadTexts('/nowhere/at/all')).rejects.toThrow('mail.templates: /nowhere/at/all cannot be read (ENOENT)')
})

it('a service does not start with a text that cannot be used', async () => {
  const config = { mail: { templates: folder({ 'invite.txt': 'x' }) } }
  await expect(startService('sqlite::memory:', { config, ports: { mail() {} } })).rejects.toThrow('mail.templates')
})
