/** The texts in English of what is beside a room: its details, and its first invites. They are loaded with these. */
export const texts = {
  row: {
    more: 'More',
    read: 'Mark read',
    mute: 'Mute',
    unmute: 'Unmute',
    mutes: { hour: '1 hour', workday: '8 hours', tomorrow: 'Until tomorrow', always: 'Always' } as Record<
      string,
      string
    >,
    favourite: 'Add to favourites',
    unfavourite: 'Remove from favourites',
  },
  greeting: {
    title: (room: string) => `Welcome to ${room}`,
    text: 'Write the first message below, or bring others in first.',
    try: 'Try asking:',
    question: 'What can you help us with?',
  },
  invites: {
    text: (people: number, days: number) =>
      people === 1
        ? `1 person can join with it, for ${days} days.`
        : `${people} people can join with it, for ${days} days.`,
    copy: 'Copy invite link',
    copied: 'The link is copied.',
    link: 'Invite link',
    uses: 'For',
    people: (count: number) => (count === 1 ? '1 person' : `${count} people`),
    none: 'No invite link is open.',
    used: (uses: number, max: number) => `${uses} of ${max} joined`,
    for: (email: string) => `for ${email}`,
    until: (time: string) => `until ${time}`,
    revoke: 'Revoke',
    revoked: 'The link no longer works.',
  },
}
