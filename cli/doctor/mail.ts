import { smtpSettings } from '../../lib/config/mail.ts'
import type { Config } from '../../lib/config/parse.ts'
import { isLoopback } from '../../lib/core/addresses.ts'
import { loadSmtp } from '../../lib/mail/smtp.ts'
import { countMails } from '../../lib/mail/store.ts'
import { loadTexts } from '../../lib/mail/templates.ts'
import type { Queries } from '../../lib/storage/database.ts'
import { toErrorMessage } from '../errors.ts'
import { type Finding, failure, ok, skipped, warning } from './finding.ts'

/** Connects to the mail server and signs in, without sending. */
export async function checkMailServer(config: Config): Promise<Finding> {
  const settings = smtpSettings(config)
  if (!settings) return skipped('mail', 'No mail server is configured: the service sends no mail.')
  const server = `${settings.host}:${settings.port}`
  try {
    await loadTexts(config.mail.templates)
    const smtp = await loadSmtp(settings)
    const { encrypted } = await smtp.check(new AbortController().signal)
    if (encrypted || isLoopback(settings.host)) return ok('mail.reachable', `The mail server ${server} responds.`)
    return warning(
      'mail.unencrypted',
      `The mail server ${server} offers no STARTTLS: reset links cross the network in the clear.`,
      'Turn STARTTLS on at the server, or use smtps:// in mail.smtp.url.',
    )
  } catch (error) {
    if (/^mail\.templates/.test(toErrorMessage(error)))
      return failure(
        'mail.templates',
        `A mail cannot be written: ${toErrorMessage(error)}`,
        'Correct the file, or mail.templates.',
      )
    const remedy = /npm install/.test(toErrorMessage(error))
      ? 'Run "npm install nodemailer" next to chat-server.'
      : 'Correct mail.smtp.url, or the mail server, and try "chat-server mail test <address>".'
    return failure('mail.unreachable', `The mail server ${server} cannot be used: ${toErrorMessage(error)}`, remedy)
  }
}

/** Whether mails were given up. */
export async function checkFailedMails(db: Queries): Promise<Finding[]> {
  const failed = await countMails(db, 'mail.failed')
  if (failed === 0) return []
  return [
    warning(
      'mail.failed',
      `${failed} mails could not be sent and were given up.`,
      'See "chat-server mail queue list"; then "chat-server mail queue retry --all".',
    ),
  ]
}
