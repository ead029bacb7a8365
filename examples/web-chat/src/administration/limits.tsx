import { ChatError } from 'chat-server/client'
import type { LimitProfile } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { locale } from '../texts/texts.ts'
import { useAdmin } from './admin.ts'
import { LimitAssignments } from './limit-assignments.tsx'
import { ProfileDialog } from './profile-dialog.tsx'
import { Throttled } from './throttled.tsx'

/** Rate limits: profiles, and the routes that they are assigned to. */
export function Limits() {
  const admin = useAdmin()
  const { limits: words } = administrationTexts.value
  const { value, error, reload } = useLoad(async (signal) => {
    const [profiles, assignments] = await Promise.all([
      readProfiles((after) => admin.limits.listProfiles(after, { signal })),
      admin.limits.listAssignments({ signal }),
    ])
    return { profiles, assignments }
  })
  if (error instanceof ChatError && error.code === 'not_found') return <p class="quiet">{words.off}</p>
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      {!value && !error && <Waiting onRetry={reload} />}
      {value && <Profiles profiles={value.profiles} onChanged={reload} />}
      {value && <LimitAssignments {...value} onChanged={reload} />}
      {value && <Throttled />}
    </>
  )
}

/** All profiles: a page ends early where descriptions are long, and the last one is empty. */
async function readProfiles(read: (query: { after?: string }) => Promise<LimitProfile[]>): Promise<LimitProfile[]> {
  const profiles: LimitProfile[] = []
  for (;;) {
    const last = profiles.at(-1)
    const page = await read(last ? { after: last.name } : {})
    if (page.length === 0) return profiles
    profiles.push(...page)
  }
}

function Profiles({ profiles, onChanged }: { profiles: readonly LimitProfile[]; onChanged: () => void }) {
  const admin = useAdmin()
  const { limits: words } = administrationTexts.value
  const [edited, setEdited] = useState<LimitProfile | 'new'>()
  const [removed, setRemoved] = useState<LimitProfile>()
  const format = new Intl.NumberFormat(locale.value, { maximumSignificantDigits: 6 })
  return (
    <section>
      <h3>{words.profiles}</h3>
      <p class="hint">{words.profiles_text}</p>
      {profiles.length === 0 && <p class="quiet">{words.no_profiles}</p>}
      <ul class="items">
        {profiles.map((profile) => (
          <li key={profile.id}>
            <span class="name">
              <strong>{profile.name}</strong>
              <small>
                {words.rate(format.format(profile.params.requests_per_second), format.format(profile.params.burst))}
              </small>
              {profile.description && <small dir="auto">{profile.description}</small>}
            </span>
            <button type="button" aria-label={words.edit_of(profile.name)} onClick={() => setEdited(profile)}>
              {words.edit}
            </button>
            <button type="button" aria-label={words.remove_of(profile.name)} onClick={() => setRemoved(profile)}>
              {words.remove}
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => setEdited('new')}>
        {words.create}
      </button>
      {edited && (
        <ProfileDialog
          profile={edited === 'new' ? undefined : edited}
          onSaved={onChanged}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed && (
        <Confirm
          title={words.remove_title(removed.name)}
          text={words.remove_profile_text}
          button={words.remove}
          act={() => admin.limits.deleteProfile(removed.id).then(onChanged)}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </section>
  )
}
