-- once: control
-- In whose spaces a device has passes: it asks what is new without saying of whom.

CREATE TABLE control.apple_devices (
  environment text NOT NULL CHECK (environment IN ('sandbox', 'live')),
  -- Apple's deviceLibraryIdentifier.
  device_id text COLLATE "C" NOT NULL,
  -- A tenant, as `tenant_id` of the environment's tables has it.
  space text COLLATE "C" NOT NULL,
  -- Machine time of the last registration.
  registered_at timestamptz(3) NOT NULL,
  PRIMARY KEY (environment, device_id, space)
);
-- For wipes.
CREATE INDEX apple_devices_by_space ON control.apple_devices (environment, space, device_id);
