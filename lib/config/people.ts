import { flag, key, oneOf, section } from './key.ts'

/** Direct conversations. */
export const DirectSection = section({
  enabled: key(flag, true, 'Direct conversations can be opened; those that exist can be used in any case.'),
  who: key(
    oneOf('shared', 'everyone'),
    'shared',
    'The users that one can be opened with: shared, those of a common conversation; or everyone.',
  ),
})

/** Who has read what. */
export const ReceiptsSection = section({
  enabled: key(
    flag,
    true,
    'Participants can see who has read a message, where the conversation and the readers agree.',
  ),
})
