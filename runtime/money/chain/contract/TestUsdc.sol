// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Test replacement for USDC on the sandbox's chain. The token has no value. It has the rules, the errors and the events of
/// Circle's FiatTokenV2_2 (github.com/circlefin/stablecoin-evm), whose source compiles only with Solidity 0.6.12: roles, minters
/// with allowances, blocked accounts, a pause, permits (EIP-2612), and transfers that the payer signs and any account can submit
/// (EIP-3009). It runs behind TestUsdcProxy.
contract TestUsdc {
    string public constant name = "USD Coin";
    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;

    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    /// Signatures with a higher `s` are rejected: each would have a second valid form (EIP-2).
    uint256 private constant HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public owner;
    address public masterMinter;
    address public pauser;
    address public blacklister;
    bool public paused;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) public isMinter;
    mapping(address => uint256) public minterAllowance;
    mapping(address => bool) public isBlacklisted;
    /// Next nonce of a permit, by owner.
    mapping(address => uint256) public nonces;
    /// Used and canceled authorizations, by payer and nonce.
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Burn(address indexed burner, uint256 amount);
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);
    event MinterRemoved(address indexed oldMinter);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event Pause();
    event Unpause();
    event OwnershipTransferred(address previousOwner, address newOwner);
    event MasterMinterChanged(address indexed newMasterMinter);
    event PauserChanged(address indexed newAddress);
    event BlacklisterChanged(address indexed newBlacklister);

    modifier only(address role, string memory refusal) {
        require(msg.sender == role, refusal);
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(!isBlacklisted[account], "Blacklistable: account is blacklisted");
        _;
    }

    modifier onlyMinters() {
        require(isMinter[msg.sender], "FiatToken: caller is not a minter");
        _;
    }

    /// Gives every role to the caller, who can mint without a limit. The proxy calls it once, when it is deployed.
    function initialize() external {
        require(owner == address(0), "FiatToken: contract is already initialized");
        owner = masterMinter = pauser = blacklister = msg.sender;
        isMinter[msg.sender] = true;
        minterAllowance[msg.sender] = type(uint256).max;
        isBlacklisted[address(this)] = true;
    }

    function version() public pure virtual returns (string memory) {
        return "2";
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256(bytes(version())),
                block.chainid,
                address(this)
            )
        );
    }

    function transferOwnership(address to) external only(owner, "Ownable: caller is not the owner") {
        require(to != address(0), "Ownable: new owner is the zero address");
        emit OwnershipTransferred(owner, to);
        owner = to;
    }

    function updateMasterMinter(address to) external only(owner, "Ownable: caller is not the owner") {
        masterMinter = to;
        emit MasterMinterChanged(to);
    }

    function updatePauser(address to) external only(owner, "Ownable: caller is not the owner") {
        pauser = to;
        emit PauserChanged(to);
    }

    function updateBlacklister(address to) external only(owner, "Ownable: caller is not the owner") {
        blacklister = to;
        emit BlacklisterChanged(to);
    }

    function pause() external only(pauser, "Pausable: caller is not the pauser") {
        paused = true;
        emit Pause();
    }

    function unpause() external only(pauser, "Pausable: caller is not the pauser") {
        paused = false;
        emit Unpause();
    }

    function blacklist(address account) external only(blacklister, "Blacklistable: caller is not the blacklister") {
        isBlacklisted[account] = true;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external only(blacklister, "Blacklistable: caller is not the blacklister") {
        isBlacklisted[account] = false;
        emit UnBlacklisted(account);
    }

    function configureMinter(address minter, uint256 allowed)
        external
        whenNotPaused
        only(masterMinter, "FiatToken: caller is not the masterMinter")
        returns (bool)
    {
        isMinter[minter] = true;
        minterAllowance[minter] = allowed;
        emit MinterConfigured(minter, allowed);
        return true;
    }

    function removeMinter(address minter)
        external
        only(masterMinter, "FiatToken: caller is not the masterMinter")
        returns (bool)
    {
        isMinter[minter] = false;
        minterAllowance[minter] = 0;
        emit MinterRemoved(minter);
        return true;
    }

    function mint(address to, uint256 value)
        external
        whenNotPaused
        onlyMinters
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        require(to != address(0), "FiatToken: mint to the zero address");
        require(value > 0, "FiatToken: mint amount not greater than 0");
        require(value <= minterAllowance[msg.sender], "FiatToken: mint amount exceeds minterAllowance");
        minterAllowance[msg.sender] -= value;
        totalSupply += value;
        balanceOf[to] += value;
        emit Mint(msg.sender, to, value);
        emit Transfer(address(0), to, value);
        return true;
    }

    function burn(uint256 value) external whenNotPaused onlyMinters notBlacklisted(msg.sender) {
        require(value > 0, "FiatToken: burn amount not greater than 0");
        require(balanceOf[msg.sender] >= value, "FiatToken: burn amount exceeds balance");
        totalSupply -= value;
        balanceOf[msg.sender] -= value;
        emit Burn(msg.sender, value);
        emit Transfer(msg.sender, address(0), value);
    }

    function transfer(address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(spender)
        returns (bool)
    {
        setAllowance(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(from)
        notBlacklisted(to)
        returns (bool)
    {
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        move(from, to, value);
        allowance[from][msg.sender] = allowed - value;
        return true;
    }

    function permit(address from, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
        whenNotPaused
    {
        require(deadline == type(uint256).max || deadline >= block.timestamp, "FiatTokenV2: permit is expired");
        bytes32 content = keccak256(abi.encode(PERMIT_TYPEHASH, from, spender, value, nonces[from]++, deadline));
        require(signerOf(content, v, r, s) == from, "EIP2612: invalid signature");
        setAllowance(from, spender, value);
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        bytes32 kind = TRANSFER_WITH_AUTHORIZATION_TYPEHASH;
        bytes32 content = keccak256(abi.encode(kind, from, to, value, validAfter, validBefore, nonce));
        useAuthorization(from, validAfter, validBefore, nonce, signerOf(content, v, r, s));
        move(from, to, value);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        bytes32 kind = RECEIVE_WITH_AUTHORIZATION_TYPEHASH;
        bytes32 content = keccak256(abi.encode(kind, from, to, value, validAfter, validBefore, nonce));
        useAuthorization(from, validAfter, validBefore, nonce, signerOf(content, v, r, s));
        move(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)
        external
        whenNotPaused
    {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        bytes32 content = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
        require(signerOf(content, v, r, s) == authorizer, "FiatTokenV2: invalid signature");
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function useAuthorization(address from, uint256 validAfter, uint256 validBefore, bytes32 nonce, address signer)
        private
    {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        require(!authorizationState[from][nonce], "FiatTokenV2: authorization is used or canceled");
        require(signer == from, "FiatTokenV2: invalid signature");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
    }

    function signerOf(bytes32 content, uint8 v, bytes32 r, bytes32 s) private view returns (address signer) {
        require(uint256(s) <= HALF_ORDER, "ECRecover: invalid signature 's' value");
        signer = ecrecover(keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), content)), v, r, s);
        require(signer != address(0), "ECRecover: invalid signature");
    }

    function setAllowance(address from, address spender, uint256 value) private {
        require(from != address(0), "ERC20: approve from the zero address");
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[from][spender] = value;
        emit Approval(from, spender, value);
    }

    function move(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        require(value <= balanceOf[from], "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// A later implementation, which verifies signatures for another EIP-712 domain. For tests of an upgrade.
contract TestUsdcNext is TestUsdc {
    function version() public pure override returns (string memory) {
        return "3";
    }
}

/// The proxy of TestUsdc, with the rules of Circle's FiatTokenProxy: the admin can upgrade it, and cannot use the token.
contract TestUsdcProxy {
    /// The slots of AdminUpgradeabilityProxy (ZeppelinOS).
    bytes32 private constant IMPLEMENTATION = keccak256("org.zeppelinos.proxy.implementation");
    bytes32 private constant ADMIN = keccak256("org.zeppelinos.proxy.admin");

    event Upgraded(address implementation);
    event AdminChanged(address previousAdmin, address newAdmin);

    /// Every role of the token is the deployer's.
    constructor(address admin) {
        store(ADMIN, admin);
        address first = address(new TestUsdc());
        store(IMPLEMENTATION, first);
        (bool done,) = first.delegatecall(abi.encodeCall(TestUsdc.initialize, ()));
        require(done);
    }

    function changeAdmin(address to) external {
        if (msg.sender != load(ADMIN)) return forward();
        require(to != address(0), "Cannot change the admin of a proxy to the zero address");
        emit AdminChanged(load(ADMIN), to);
        store(ADMIN, to);
    }

    function upgradeTo(address implementation) external {
        if (msg.sender != load(ADMIN)) return forward();
        require(implementation.code.length > 0, "Cannot set a proxy implementation to a non-contract address");
        store(IMPLEMENTATION, implementation);
        emit Upgraded(implementation);
    }

    fallback() external payable {
        require(msg.sender != load(ADMIN), "Cannot call fallback function from the proxy admin");
        forward();
    }

    receive() external payable {
        revert();
    }

    function load(bytes32 slot) private view returns (address value) {
        assembly {
            value := sload(slot)
        }
    }

    function store(bytes32 slot, address value) private {
        assembly {
            sstore(slot, value)
        }
    }

    function forward() private {
        address implementation = load(IMPLEMENTATION);
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), implementation, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if done {
                return(0, returndatasize())
            }
            revert(0, returndatasize())
        }
    }
}
