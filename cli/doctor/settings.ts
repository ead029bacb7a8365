import { oauthProviders } from '../../lib/config/oauth.ts'
import type { Config } from '../../lib/config/parse.ts'
import { type Finding, warning } from './finding.ts'

/** Below this, a user is signed out while reading a page. */
const MIN_IDLE_SECONDS = 300

/** Most questions about what happened come within this time. */
const MIN_AUDIT_DAYS = 30

/** Settings that are right for a trial, and seldom for people. */
export function checkSettings(config: Config): Finding[] {
  const { session, log, audit } = config
  const findings: [applies: boolean, finding: Finding][] = [
    [
      session.idle_seconds < MIN_IDLE_SECONDS,
      warning(
        'session.short_idle',
        `session.idle_seconds is ${session.idle_seconds}: users who pause for that long are signed out.`,
        `Set it to ${MIN_IDLE_SECONDS} or more; the default is 28800, eight hours.`,
      ),
    ],
    [
      log.level === 'error' || log.level === 'silent',
      warning(
        'log.quiet',
        `log.level is ${log.level}: the log lacks the warnings that come before a failure.`,
        'Set it to info or warn, and run "chat-server reload".',
      ),
    ],
    [
      audit.retention_days !== false && audit.retention_days < MIN_AUDIT_DAYS,
      warning(
        'audit.short',
        `audit.retention_days is ${audit.retention_days}: the audit log has no answer about what happened before that.`,
        `Set it to ${MIN_AUDIT_DAYS} or more; the default is 365.`,
      ),
    ],
    ...openProviders(config).map((name): [boolean, Finding] => [
      true,
      warning(
        'oauth.open_to_all',
        `oauth.${name} lets every Google account sign up: neither allowed_domains nor allowed_emails is set.`,
        `Set oauth.${name}.allowed_domains to the domains of your users, or oauth.allow_signup = false.`,
      ),
    ]),
  ]
  return findings.flatMap(([applies, finding]) => (applies ? finding : []))
}

/** Everybody has an account of Google, or can make one. */
function openProviders(config: Config): string[] {
  if (!config.oauth.allow_signup) return []
  return oauthProviders(config).flatMap(({ name, issuer, allowed_domains = [], allowed_emails = [] }) =>
    issuer === 'https://accounts.google.com' && allowed_domains.length + allowed_emails.length === 0 ? name : [],
  )
}
